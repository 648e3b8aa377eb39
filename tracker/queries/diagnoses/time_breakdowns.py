"""Time breakdowns of stages and runs; `gpu_hours` adds them up over runs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Case, FloatField, Q, Sum, Value, When
from django.db.models.expressions import Combinable
from django.db.models.fields.json import KT
from django.db.models.functions import Cast, Coalesce

from tracker.diagnosis.breakdown.categories import (
    UNEXPLAINED_USES,
    WASTED_USES,
    Ledger,
    Use,
    added_up,
    shares,
)
from tracker.models import Diagnosis, Project

HOUR = 3_600.0
JOULES_OF_A_KILOWATT_HOUR = 3.6e6
GRAMS = 1_000.0  # of a kilogram

LABELS = {
    Use.COMPUTING: "computing",
    Use.IDLE_IN_STEPS: "idle inside steps",
    Use.DATA_WAIT: "waiting for data",
    Use.COMMUNICATION: "communicating",
    Use.COPY: "copying",
    Use.BOUNDARY: "between epochs",
    Use.EVALUATION: "evaluation",
    Use.CHECKPOINT: "checkpoints",
    Use.INITIALIZATION: "initialization",
    Use.IDLE: "held idle",
    Use.LOST: "failed",
    Use.UNATTRIBUTED: "not attributed",
    Use.UNKNOWN: "not measured",
}
# The category for run time outside of its stages.
BETWEEN, BETWEEN_LABEL = "between", "between stages"
# Timestamps have this resolution; smaller parts are rounding errors.
MIN_SECONDS = 1e-6


@dataclass(frozen=True, slots=True)
class LedgerPart:
    use: str
    label: str
    seconds: float
    share: float  # shares of a breakdown add up to exactly 1
    before: float  # sum of the shares of previous parts
    money: float | None


@dataclass(frozen=True, slots=True)
class LedgerView:
    """Time by category; `is_of_gpus` is false if the seconds are those of stages without GPU.

    `is_whole` is true for one run from start to end. Money is None if the project has no price,
    energy if it was not measured.
    """

    parts: tuple[LedgerPart, ...]
    seconds: float
    gpus: int
    money: float | None
    currency: str
    energy_joules: float | None
    idle_share: float | None = None
    is_whole: bool = False
    carbon_intensity: float | None = None  # of the project's grid, g CO₂e per kWh

    @property
    def is_of_gpus(self) -> bool:
        return self.gpus > 0

    @property
    def of_what(self) -> str:
        """Return a description of the total."""
        if self.is_of_gpus:
            return "all GPU time"
        return "the whole run" if self.is_whole else "all stages"

    @property
    def without_money(self) -> LedgerView:
        parts = tuple(replace(part, money=None) for part in self.parts)
        return replace(self, parts=parts, money=None, carbon_intensity=None)

    @property
    def hours(self) -> float:
        return self.seconds / HOUR

    @property
    def kilowatt_hours(self) -> float | None:
        if self.energy_joules is None:
            return None
        return self.energy_joules / JOULES_OF_A_KILOWATT_HOUR

    @property
    def carbon_kilograms(self) -> float | None:
        """Return CO₂ equivalents of the energy; None without energy or intensity."""
        if self.kilowatt_hours is None or self.carbon_intensity is None:
            return None
        return self.kilowatt_hours * self.carbon_intensity / GRAMS

    @property
    def computing_share(self) -> float | None:
        """Return None if no activity was measured."""
        share = self.share_of.get(Use.COMPUTING)
        if share is None:
            return None if self.unknown_share else 0.0
        return share

    @property
    def unknown_share(self) -> float:
        return sum(self.share_of.get(use, 0.0) for use in UNEXPLAINED_USES)

    @property
    def wasted_seconds(self) -> float:
        return sum(part.seconds for part in self.parts if part.use in WASTED_USES)

    @property
    def wasted_share(self) -> float:
        return self.wasted_seconds / self.seconds

    @property
    def largest_waste(self) -> LedgerPart | None:
        rest = [part for part in self.parts if part.use in WASTED_USES]
        return max(rest, key=lambda part: part.seconds, default=None)

    @property
    def share_of(self) -> dict[str, float]:
        return {part.use: part.share for part in self.parts}


def ledger_from(row: Mapping[str, Any] | None) -> Ledger | None:
    """Return the time breakdown stored with a diagnosis, if any."""
    if not row:
        return None
    seconds = {use: float(row.get(use.value) or 0.0) for use in Use}
    energy = row.get("energy_joules")
    return Ledger(
        int(row.get("gpus") or 0), seconds, None if energy is None else float(energy)
    )


def view_of(
    ledger: Ledger | None, project: Project, *, between: float | None = None
) -> LedgerView | None:
    """Present a time breakdown; with `between`, it covers a whole run."""
    if ledger is None or not ledger.total > 0:
        return None
    price = project.gpu_hour_price if ledger.gpus else None
    seconds_by_category = {
        use.value: seconds for use, seconds in ledger.seconds.items()
    }
    labels = {use.value: label for use, label in LABELS.items()}
    if between is not None:
        seconds_by_category[BETWEEN], labels[BETWEEN] = between, BETWEEN_LABEL
    parts, before = [], 0.0
    for use, share in shares(seconds_by_category).items():
        seconds = seconds_by_category[use]
        money = None if price is None else price * seconds / HOUR
        parts.append(LedgerPart(use, labels[use], seconds, share, before, money))
        before += share
    return LedgerView(
        parts=tuple(part for part in parts if part.seconds >= MIN_SECONDS),
        seconds=sum(seconds_by_category.values()),
        gpus=ledger.gpus,
        money=None if price is None else price * ledger.total / HOUR,
        currency=project.currency,
        energy_joules=ledger.energy_joules,
        idle_share=ledger.idle_share,
        is_whole=between is not None,
        carbon_intensity=project.carbon_intensity,
    )


def run_ledger(
    stages: Iterable[Ledger | None], project: Project, *, between: float | None = None
) -> LedgerView | None:
    """Add up a run's stages: those with GPUs, or all of them if none has one."""
    known = [ledger for ledger in stages if ledger is not None]
    with_gpus = [ledger for ledger in known if ledger.gpus]
    return view_of(
        added_up(with_gpus or known), project, between=None if with_gpus else between
    )


def runs_ledger(project: Project, run_ids: Collection[UUID]) -> LedgerView | None:
    """Add up several runs like the stages of one run.

    If some runs belong to other projects, which have their own prices, money is omitted.
    """
    kept = Diagnosis.objects.filter(run_id__in=run_ids)
    rows = list(kept.values_list("ledger", "run__project"))
    ledger = run_ledger([ledger_from(row) for row, _ in rows], project)
    if ledger is not None and any(its != project.id for _, its in rows):
        return ledger.without_money
    return ledger


# Any: querysets and rows of sums.
def gpu_ledgers(of: Q, since: datetime | None) -> Any:
    kept = Diagnosis.objects.filter(
        of, run__trashed_at=None, ledger__isnull=False
    ).annotate(gpus=number_kept("gpus"))
    if since is not None:
        kept = kept.filter(Q(run__started_at__gte=since) | Q(run__started_at=None))
    return kept.filter(gpus__gt=0).order_by()


def seconds_kept(uses: Iterable[Use]) -> Combinable:
    """Return the sum of these categories in a stored time breakdown."""
    return sum(map(_seconds, uses), Value(0.0))


def energy_kept() -> Combinable:
    # SQLite would read JSON null as 0. Stages without energy are excluded from sums, which
    # therefore cover only stages whose GPUs measure it.
    is_missing = When(ledger__energy_joules=None, then=Value(None))
    return Case(
        is_missing, default=number_kept("energy_joules"), output_field=FloatField()
    )


def number_kept(key: str) -> Cast:
    return Cast(KT(f"ledger__{key}"), FloatField())


def _seconds(use: Use) -> Coalesce:
    return Coalesce(number_kept(use.value), Value(0.0))


def sums_by_use() -> dict[str, Any]:
    sums: dict[str, Any] = {use.value: Sum(_seconds(use)) for use in Use}
    return {**sums, "energy_joules": Sum(energy_kept())}


def summed(rows: Any, **more: Any) -> Any:
    return rows.annotate(
        **sums_by_use(),
        wasted=Sum(seconds_kept(WASTED_USES), output_field=FloatField()),
        total=Sum(seconds_kept(Use), output_field=FloatField()),
        **more,
    )


def ledger_of(row: Mapping[str, Any]) -> Ledger | None:
    # The number of GPUs differs between runs; only that it is above 0 matters.
    return ledger_from({**row, "gpus": 1})
