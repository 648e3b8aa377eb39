"""The recovery of earlier fixes on this server, from consecutive runs of ladders.

Only differences above the noise between two runs count, and only if exactly one cause is gone:
with several, their effects cannot be separated.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Any
from uuid import UUID

from django.db.models.functions import Coalesce

from tracker.diagnosis.breakdown.step import BLOCK_STEPS, FEWEST_BLOCKS
from tracker.diagnosis.engine.speedup import Pair, Recovery, learn_recoveries
from tracker.models import Diagnosis, Finding, Rung, State
from tracker.queries.ladders.verdicts import MATERIAL_CHANGE
from tracker.queries.run.attributes import attribute_values
from tracker.queries.run.namespaces import monitoring_path

# Only the newest ones are read; more do not improve the estimate.
MAX_RUNGS = 2_000
# Cache duration.
SECONDS_KEPT = 300.0

# Three blocks of fifty: fewer steps do not show the variation of throughput.
FEWEST_STEPS = FEWEST_BLOCKS * BLOCK_STEPS
# A predicted gain below this share of the time cannot be distinguished from noise.
MIN_PROMISE = 0.05

MACHINE = ("facts/gpu/0/name", "facts/gpu_count", "facts/effective_cores")
BOUND = "body__judgement__finding__gain__bound"

# Run and stage.
Key = tuple[UUID, str]


@dataclass(slots=True)
class _Kept:
    pairs: list[FixedFinding] | None = None
    until: float = 0.0


_kept = _Kept()


@dataclass(frozen=True, slots=True)
class FixedFinding:
    """A finding that is gone in the next run of a ladder, and when that run ended.

    `relatives` are all runs of the ladders that contain the two runs.
    """

    run_id: UUID
    ended_at: datetime
    pair: Pair
    relatives: frozenset[UUID]


@dataclass(frozen=True, slots=True)
class _Step:
    before: UUID
    after: UUID
    ended_at: datetime
    relatives: frozenset[UUID]


@dataclass(frozen=True, slots=True)
class _Promise:
    stage: str
    rule: str
    bound: float
    explained_by: str

    @property
    def share(self) -> float:
        return 1.0 - 1.0 / self.bound


def recoveries(*, but: UUID, until: datetime | None = None) -> Mapping[str, Recovery]:
    """Return the recovery of each rule's fixes, cached for some minutes.

    A prediction must not use its own result: fixes on ladders of run `but` are excluded, and
    so are fixes measured after `until`, the end of the run.
    """
    now = time.monotonic()
    if _kept.pairs is None or now >= _kept.until:
        _kept.pairs = read_pairs()
        _kept.until = now + SECONDS_KEPT
    return learn_recoveries(
        fixed.pair
        for fixed in _kept.pairs
        if but not in fixed.relatives and (until is None or fixed.ended_at <= until)
    )


def read_pairs() -> list[FixedFinding]:
    """Return each finding that is gone in the next run of a ladder."""
    steps = _consecutive_runs()
    if not steps:
        return []
    run_ids = sorted({run_id for step in steps for run_id in (step.before, step.after)})
    diagnoses = _diagnoses(run_ids)
    machines = _machines(run_ids, {stage for _, stage in diagnoses})
    promises = _promises({step.before for step in steps})
    return [
        FixedFinding(step.before, step.ended_at, pair, step.relatives)
        for step in steps
        for pair in _pairs(step, diagnoses, promises.get(step.before, ()))
        if machines.get(step.before) == machines.get(step.after)
    ]


def _consecutive_runs() -> list[_Step]:
    """Return consecutive runs, each pair once, and when the second one ended."""
    ended = Rung.objects.shown().exclude(run__state=State.RUNNING)
    newest = ended.order_by("-id").values_list(
        "ladder_id",
        "position",
        "run_id",
        Coalesce("run__ended_at", "run__last_seen_at"),
    )
    rows = sorted(newest[:MAX_RUNGS], key=lambda row: (str(row[0]), row[1]))
    on_ladder: dict[UUID, set[UUID]] = {}
    for ladder, _, run_id, _ in rows:
        on_ladder.setdefault(ladder, set()).add(run_id)
    steps: dict[tuple[UUID, UUID], _Step] = {}
    for before, after in pairwise(rows):
        # Runs between non-adjacent ones changed something, too.
        if before[0] != after[0] or before[1] + 1 != after[1]:
            continue
        both = before[2], after[2]
        known = steps[both].relatives if both in steps else frozenset()
        steps[both] = _Step(*both, after[3], known | on_ladder[after[0]])
    return [*steps.values()]


# Any: rows of diagnoses.
def _diagnoses(run_ids: Sequence[UUID]) -> dict[Key, dict[str, Any]]:
    rows = Diagnosis.objects.filter(run_id__in=run_ids, is_final=True).values(
        "run_id",
        "stage__name",
        "healthy",
        "step_count",
        "steps_per_second",
        "examples_per_second",
    )
    return {(row["run_id"], row["stage__name"]): {**row} for row in rows}


def _promises(run_ids: set[UUID]) -> dict[UUID, list[_Promise]]:
    found: dict[UUID, list[_Promise]] = {}
    rows = Finding.objects.filter(run_id__in=run_ids, is_open=True)
    for run_id, stage, rule, explained_by, bound in rows.values_list(
        "run_id", "stage__name", "rule", "explained_by", BOUND
    ):
        if isinstance(bound, int | float) and bound > 1.0:
            promise = _Promise(stage, rule, float(bound), explained_by)
            found.setdefault(run_id, []).append(promise)
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
    step: _Step,
    diagnoses: Mapping[Key, dict[str, Any]],
    promises: Sequence[_Promise],
) -> Iterator[Pair]:
    for stage in sorted({promise.stage for promise in promises}):
        old, new = (diagnoses.get((run, stage)) for run in (step.before, step.after))
        ratio = _ratio(old, new) if old and new else None
        if new is None or ratio is None or abs(ratio - 1.0) < MATERIAL_CHANGE:
            continue
        fixed = [
            promise
            for promise in promises
            if promise.stage == stage
            and promise.rule in new["healthy"]
            and promise.share >= MIN_PROMISE
        ]
        names = {promise.rule for promise in fixed}
        causes = {p.rule for p in fixed if p.explained_by not in names}
        if len(causes) != 1:
            continue
        for promise in fixed:
            yield Pair(promise.rule, promise.share, saved=1.0 - 1.0 / ratio)


def _ratio(old: Mapping[str, Any], new: Mapping[str, Any]) -> float | None:
    """Return throughput after divided by throughput before; None with too few steps.

    Also None if only one of the two counts its examples.
    """
    if min(old["step_count"], new["step_count"]) < FEWEST_STEPS:
        return None
    counts = [row["examples_per_second"] is not None for row in (old, new)]
    if counts[0] != counts[1]:
        return None
    unit = "examples_per_second" if counts[0] else "steps_per_second"
    if not (old[unit] and new[unit]):
        return None
    return float(new[unit] / old[unit])
