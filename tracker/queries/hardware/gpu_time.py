"""GPU time, idle share and energy of runs.

The values come from the time breakdowns of diagnosed stages; None if not measured.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from uuid import UUID

from tracker.diagnosis.breakdown.categories import Ledger, added_up
from tracker.models import Diagnosis
from tracker.queries.diagnoses.time_breakdowns import HOUR, ledger_from
from tracker.queries.runs.columns import each_of


@dataclass(frozen=True, slots=True)
class GpuTime:
    """`idle_percent` is a share of the GPU time; None if most of it is unexplained."""

    hours: float | None = None
    idle_percent: float | None = None
    energy_joules: float | None = None


NOT_MEASURED = GpuTime()


def gpu_times(run_ids: Collection[UUID]) -> dict[UUID, GpuTime]:
    """Return the values of these runs in one statement; runs without any are absent."""
    rows = Diagnosis.objects.filter(
        run_id__in=each_of(run_ids), ledger__isnull=False
    ).values_list("run_id", "ledger")
    by_run: dict[UUID, list[Ledger]] = {}
    for run_id, row in rows:
        ledger = ledger_from(row)
        if ledger is not None and ledger.gpus:
            by_run.setdefault(run_id, []).append(ledger)
    return {run_id: _figures(added_up(ledgers)) for run_id, ledgers in by_run.items()}


def _figures(ledger: Ledger | None) -> GpuTime:
    if ledger is None or not ledger.total > 0:
        return NOT_MEASURED
    idle = ledger.idle_share
    return GpuTime(
        hours=ledger.total / HOUR,
        idle_percent=None if idle is None else 100 * idle,
        energy_joules=ledger.energy_joules,
    )
