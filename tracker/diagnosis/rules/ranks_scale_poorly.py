"""Poor scaling over ranks.

## Detection
Throughput per rank below 80 % of that of an earlier run of the project on fewer ranks, with
the same stage, GPU and model.
The rule then names the part of a step that has grown most.

## Why it matters
Each further GPU costs as much as the first one and does less.

## Limitations
Smaller batches per rank slow down each rank by themselves; then the total batch size does not
scale.
The earlier run may have had other settings: the finding names the compared run.
The comparison covers all steps of both runs, from their summaries, including warm-up.

Catalogue: G6, scaling efficiency.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tracker.diagnosis.analysis.statistics import margin_below
from tracker.diagnosis.engine.finding import (
    ALONE,
    COARSE,
    Abstention,
    Answer,
    Evidence,
    Finding,
    Gain,
    Recommendation,
    Severity,
    Side,
)
from tracker.diagnosis.engine.rule import Span
from tracker.diagnosis.engine.speedup import usual_gain
from tracker.diagnosis.engine.wording import duration, percent, rounded
from tracker.diagnosis.signals import Array, EarlierRun

SPAN = Span.STAGE

WAIT = "data wait"


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits that a project may change."""

    poor_efficiency: float = 0.80
    poor_release_efficiency: float = 0.85
    critical_efficiency: float = 0.50
    fewest_steps: int = 50


def check(
    step_seconds: Array,
    step_examples: Array,
    world_size: float,
    run_of_fewer_ranks: EarlierRun,
    *,
    data_wait_seconds: Array | None = None,
    phase_seconds: Mapping[str, Array] | None = None,
    already_open: bool = False,
    limits: Limits = Limits(),
) -> Answer:
    earlier = run_of_fewer_ranks
    seconds = float(step_seconds.sum())
    if len(step_seconds) < limits.fewest_steps or not seconds > 0:
        return Abstention((f"at least {limits.fewest_steps} steps",))
    if not 1 <= earlier.ranks < world_size or not earlier.examples_per_second > 0:
        return Abstention(("run_of_fewer_ranks",))

    here = float(step_examples.sum()) / seconds
    efficiency = here / earlier.examples_per_second
    if not efficiency < (
        limits.poor_release_efficiency if already_open else limits.poor_efficiency
    ):
        return None

    return _finding(
        earlier,
        world_size=world_size,
        here=here,
        efficiency=efficiency,
        grown=_grown(step_seconds, data_wait_seconds, phase_seconds or {}, earlier),
        batch=float(np.median(step_examples)),
        limits=limits,
    )


def _finding(
    earlier: EarlierRun,
    *,
    world_size: float,
    here: float,
    efficiency: float,
    grown: tuple[str, float] | None,
    batch: float,
    limits: Limits,
) -> Finding:
    said = f" {grown[0]} grew most, by {duration(grown[1])} per step." if grown else ""
    return Finding(
        severity=(
            Severity.CRITICAL
            if efficiency < limits.critical_efficiency
            else Severity.WARNING
        ),
        summary=(
            f"Each of {world_size:g} ranks processes {rounded(here)} examples/s; in"
            f" {earlier.name}, with {earlier.ranks:g}, each processed"
            f" {rounded(earlier.examples_per_second)}. That is {percent(efficiency)} of"
            f" linear scaling.{said}"
        ),
        evidence=(
            Evidence(
                "run_of_fewer_ranks",
                "throughput per rank, relative to the earlier run",
                efficiency,
                "share",
                limits.poor_efficiency,
                Side.BELOW,
                release=limits.poor_release_efficiency,
            ),
            Evidence("world_size", "ranks", world_size, "ranks"),
            Evidence("step_examples", "throughput per rank", here, "examples/s"),
            Evidence(
                "run_of_fewer_ranks",
                "throughput per rank of the earlier run",
                earlier.examples_per_second,
                "examples/s",
            ),
        ),
        recommendations=_recommendations(batch),
        disproof=(
            "Run both again with the same batch per rank and the same settings: if"
            " the throughput per rank is equal, something else differed."
        ),
        gain=_gain(efficiency),
        comes_after=("data-wait-dominates",),
        quality=COARSE,
        margin=margin_below(efficiency, limits.poor_efficiency),
        corroboration=ALONE,
    )


def _recommendations(batch: float) -> tuple[Recommendation, ...]:
    return (
        Recommendation(
            "Look at the part that has grown: overlap communication or make it less frequent;"
            " waits for data need more loader workers or more storage servers."
        ),
        Recommendation(
            "Keep the batch of each rank as large as it was on fewer ranks.",
            current=f"{batch:g} examples per rank",
        ),
    )


def _gain(efficiency: float) -> Gain | None:
    if not efficiency > 0:
        return None
    return usual_gain(1.0 - efficiency, "Linear scaling is the maximum.")


def _grown(
    step_seconds: Array,
    data_wait_seconds: Array | None,
    phase_seconds: Mapping[str, Array],
    earlier: EarlierRun,
) -> tuple[str, float] | None:
    """Return the part of a step with the largest growth, among those known for both runs."""
    count = len(step_seconds)
    parts = {name: float(p.sum()) / count for name, p in phase_seconds.items()}
    if data_wait_seconds is not None:
        parts[WAIT] = float(data_wait_seconds.sum()) / count
    more = {
        name: seconds - earlier.parts[name]
        for name, seconds in parts.items()
        if name in earlier.parts
    }
    name = max(more, key=more.__getitem__, default="")
    return (name, more[name]) if name and more[name] > 0 else None
