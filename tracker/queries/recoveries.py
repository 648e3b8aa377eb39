"""How much earlier fixes on this server recovered, from consecutive rungs of ladders."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Any
from uuid import UUID

from django.db.models.functions import Coalesce

from tracker.diagnosis.gain import Pair, Recovery, learn_recoveries
from tracker.models import Diagnosis, Finding, Rung, State
from tracker.queries.attributes import attribute_values
from tracker.queries.namespaces import monitoring_path

# Of the newest rungs; a server that has more has learned enough from them.
MOST_RUNGS = 2_000
# What was read counts for so long.
SECONDS_KEPT = 300.0

MACHINE = ("facts/gpu/0/name", "facts/gpu_count", "facts/effective_cores")
BOUND = "body__judgement__finding__gain__bound"

# A run and a stage.
Key = tuple[UUID, str]


@dataclass(slots=True)
class _Kept:
    pairs: list[FixedFinding] | None = None
    until: float = 0.0


_kept = _Kept()


@dataclass(frozen=True, slots=True)
class FixedFinding:
    """A finding that is gone on the next rung, and when that rung ended."""

    run_id: UUID
    ended_at: datetime
    pair: Pair


def recoveries(*, but: UUID, until: datetime | None = None) -> Mapping[str, Recovery]:
    """Return the recovery of each rule's fixes, cached for some minutes.

    A prediction must not use its own result: fixes of run `but` are left out, and those
    measured after `until`, the end of the run.
    """
    now = time.monotonic()
    if _kept.pairs is None or now >= _kept.until:
        _kept.pairs = read_pairs()
        _kept.until = now + SECONDS_KEPT
    return learn_recoveries(
        fixed.pair
        for fixed in _kept.pairs
        if fixed.run_id != but and (until is None or fixed.ended_at <= until)
    )


def read_pairs() -> list[FixedFinding]:
    """Return each finding that is gone on the next rung of a ladder."""
    steps = _consecutive_runs()
    if not steps:
        return []
    run_ids = sorted(
        {run_id for before, after, _ in steps for run_id in (before, after)}
    )
    diagnoses = _diagnoses(run_ids)
    machines = _machines(run_ids, {stage for _, stage in diagnoses})
    bounds = _bounds({before for before, _, _ in steps})
    return [
        FixedFinding(before, ended_at, pair)
        for before, after, ended_at in steps
        for pair in _pairs(before, after, diagnoses, bounds)
        if machines.get(before) == machines.get(after)
    ]


def _consecutive_runs() -> list[tuple[UUID, UUID, datetime]]:
    """Return the runs of consecutive rungs, and when the second ended."""
    ended = Rung.objects.shown().exclude(run__state=State.RUNNING)
    newest = ended.order_by("-id").values_list(
        "ladder_id",
        "position",
        "run_id",
        Coalesce("run__ended_at", "run__last_seen_at"),
    )
    rows = sorted(newest[:MOST_RUNGS], key=lambda row: (str(row[0]), row[1]))
    return [
        (before[2], after[2], after[3])
        for before, after in pairwise(rows)
        # What lies between two that are no neighbours changed something, too.
        if before[0] == after[0] and before[1] + 1 == after[1]
    ]


# Any: rows of diagnoses.
def _diagnoses(run_ids: Sequence[UUID]) -> dict[Key, dict[str, Any]]:
    rows = Diagnosis.objects.filter(run_id__in=run_ids, is_final=True).values(
        "run_id", "stage__name", "healthy", "steps_per_second", "examples_per_second"
    )
    return {(row["run_id"], row["stage__name"]): {**row} for row in rows}


def _bounds(run_ids: set[UUID]) -> dict[UUID, list[tuple[str, str, float]]]:
    found: dict[UUID, list[tuple[str, str, float]]] = {}
    rows = Finding.objects.filter(run_id__in=run_ids, is_open=True)
    for run_id, stage, rule, bound in rows.values_list(
        "run_id", "stage__name", "rule", BOUND
    ):
        if isinstance(bound, int | float) and bound > 1.0:
            found.setdefault(run_id, []).append((stage, rule, float(bound)))
    return found


def _machines(run_ids: Sequence[UUID], stages: set[str]) -> dict[UUID, Any]:
    paths = [
        monitoring_path(stage, fact) for stage in sorted(stages) for fact in MACHINE
    ]
    values = attribute_values(run_ids, paths)
    return {
        run_id: {path: row.value for path, row in found.items()}
        for run_id, found in values.items()
    }


def _pairs(
    before: UUID,
    after: UUID,
    diagnoses: Mapping[Key, dict[str, Any]],
    bounds: Mapping[UUID, list[tuple[str, str, float]]],
) -> Iterator[Pair]:
    for stage, rule, bound in bounds.get(before, ()):
        old, new = diagnoses.get((before, stage)), diagnoses.get((after, stage))
        if old is None or new is None or rule not in new["healthy"]:
            continue
        ratio = _ratio(old, new)
        if ratio is not None:
            yield Pair(rule, promised=1.0 - 1.0 / bound, saved=1.0 - 1.0 / ratio)


def _ratio(old: Mapping[str, Any], new: Mapping[str, Any]) -> float | None:
    """Return throughput after over before; None if only one counts its examples."""
    counts = [row["examples_per_second"] is not None for row in (old, new)]
    if counts[0] != counts[1]:
        return None
    unit = "examples_per_second" if counts[0] else "steps_per_second"
    if not (old[unit] and new[unit]):
        return None
    return float(new[unit] / old[unit])
