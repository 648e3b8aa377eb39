"""Reads data of the same stage in other runs, for rules that compare runs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from uuid import UUID

import numpy as np

from tracker.diagnosis.analysis.alignment import align
from tracker.diagnosis.signals import EarlierRun, Fact
from tracker.models import Attribute, Run, Rung, Stage
from tracker.queries.diagnoses.losses import loss_paths, losses_of
from tracker.queries.diagnoses.same_name_runs import read_same_name_runs
from tracker.queries.run.attributes import (
    AttributeRow,
    attribute_values,
    list_attributes,
)
from tracker.queries.run.namespaces import STEP_SECONDS, monitoring_path
from tracker.queries.series.thinned import read_curves
from tracker.series.points import Points

EXAMPLES = "step/examples"
WAIT = "step/data_wait_seconds"
PHASE_START, PHASE_END = "step/phase/", "_seconds"
WORLD_SIZE = "facts/distributed/world_size"
# Facts that must be equal if both runs have them.
ALIKE = ("facts/gpu/0/name", "facts/model/parameters")
SCRIPT = ("source/text", "source/arguments")

# Only the newest runs are compared.
MAX_RUNS = 50
FEWEST_STEPS = 50

Rows = Mapping[str, AttributeRow]


def read_earlier(stage: Stage, ranks: float | None) -> dict[str, EarlierRun]:
    """Return the runs that rules compare a stage with, by signal name."""
    found = {
        "run_of_fewer_ranks": _run_of_fewer_ranks(stage, ranks),
        "rung_before": _rung_before(stage),
        "same_name_runs": read_same_name_runs(stage),
    }
    return {name: run for name, run in found.items() if run is not None}


def read_same_stages(stage: Stage) -> dict[str, Fact]:
    """Return how many runs repeated this stage with the same script, and their total time.

    Empty if the script is not known.
    """
    paths = [monitoring_path(stage.name, path) for path in SCRIPT]
    own = attribute_values([stage.run_id], paths)[stage.run_id]
    texts = {path: row.value for path, row in own.items()}
    if set(texts) != set(paths):
        return {}

    stages = {other.run_id: other for other in _other_stages(stage)}
    same = set(stages)
    for path, text in texts.items():
        attributes = Attribute.objects.filter(run_id__in=same, path=path, text=text)
        same &= set(attributes.values_list("run_id", flat=True))
    seconds = [_seconds(stages[run_id]) for run_id in same]
    return {
        "same_stage_runs": float(len(same)),
        "same_stage_seconds": float(sum(seconds)),
    }


def _other_stages(stage: Stage) -> list[Stage]:
    """Return the stages with that name in earlier runs, the newest first."""
    others = Stage.objects.filter(
        run__project_id=stage.run.project_id, run__trashed_at=None, name=stage.name
    ).exclude(run_id=stage.run_id)
    if stage.started_at is not None:
        others = others.filter(started_at__lt=stage.started_at)
    return list(others.select_related("run").order_by("-started_at", "-id")[:MAX_RUNS])


def _seconds(stage: Stage) -> float:
    if stage.started_at is None or stage.ended_at is None:
        return 0.0
    return max(0.0, (stage.ended_at - stage.started_at).total_seconds())


def _run_of_fewer_ranks(stage: Stage, ranks: float | None) -> EarlierRun | None:
    """Return the newest of the runs with the fewest ranks, from its summaries."""
    if ranks is None or not ranks > 1:
        return None
    stages = {other.run_id: other for other in _other_stages(stage)}
    values = _values_of([stage.run_id, *stages], stage.name)
    own = values[stage.run_id]
    candidates = [
        (_number(values[run_id].get(WORLD_SIZE)) or 1.0, age, run_id)
        for age, run_id in enumerate(stages)
        if _is_alike(own, values[run_id]) and _per_second(values[run_id]) is not None
    ]
    fewer = min((found for found in candidates if found[0] < ranks), default=None)
    if fewer is None:
        return None
    count, _, run_id = fewer
    return _by_summaries(stages[run_id], count)


def _values_of(run_ids: Collection[UUID], name: str) -> dict[UUID, Rows]:
    """Return the values of each run's stage, by path relative to the stage."""
    columns = (STEP_SECONDS, EXAMPLES, WORLD_SIZE, *ALIKE)
    paths = [monitoring_path(name, path) for path in columns]
    prefix = monitoring_path(name)
    return {
        run_id: {path.removeprefix(prefix): row for path, row in found.items()}
        for run_id, found in attribute_values(run_ids, paths).items()
    }


def _is_alike(one: Rows, other: Rows) -> bool:
    both = [path for path in ALIKE if path in one and path in other]
    return all(one[path].value == other[path].value for path in both)


def _number(row: AttributeRow | None) -> float | None:
    value = None if row is None else row.value
    return float(value) if isinstance(value, int | float) else None


def _per_second(rows: Rows) -> float | None:
    """Return the examples per second of one rank."""
    seconds, examples = rows.get(STEP_SECONDS), rows.get(EXAMPLES)
    if seconds is None or examples is None or seconds.count < FEWEST_STEPS:
        return None
    if not seconds.mean or not examples.mean or not seconds.mean > 0:
        return None
    return examples.mean / seconds.mean


def _by_summaries(stage: Stage, ranks: float) -> EarlierRun | None:
    prefix = monitoring_path(stage.name)
    rows = {
        row.path.removeprefix(prefix): row
        for row in list_attributes(stage.run, prefix=f"{prefix}step/")
    }
    per_second, seconds = _per_second(rows), rows.get(STEP_SECONDS)
    if per_second is None or seconds is None or not seconds.mean:
        return None
    return EarlierRun(
        name=stage.run.name,
        ranks=ranks,
        step_seconds=seconds.mean,
        examples_per_second=per_second,
        parts=dict(_parts(rows.values(), prefix, seconds.count)),
    )


def _parts(
    rows: Iterable[AttributeRow], prefix: str, steps: int
) -> Iterable[tuple[str, float]]:
    """Yield the parts of a step and their mean seconds; some steps lack some parts."""
    for row in rows:
        path = row.path.removeprefix(prefix)
        if row.mean is None:
            continue
        if path == WAIT:
            yield "data wait", row.mean
        elif path.startswith(PHASE_START) and path.endswith(PHASE_END):
            name = path.removeprefix(PHASE_START).removesuffix(PHASE_END)
            yield name, row.mean * row.count / steps


def _rung_before(stage: Stage) -> EarlierRun | None:
    """Return the run before this one on the newest ladder that contains it."""
    on_ladders = Rung.objects.filter(ladder__deleted_at=None, run_id=stage.run_id)
    rung = on_ladders.order_by("-ladder__created_at").first()
    if rung is None:
        return None
    before = (
        Rung.objects.shown()
        .filter(ladder_id=rung.ladder_id, position__lt=rung.position)
        .order_by("-position")
        .first()
    )
    if before is None:
        return None
    return read_learning(before.run, stage.name)


def read_learning(run: Run, stage_name: str) -> EarlierRun | None:
    """Return a run's losses with the steps they were logged in; None without steps."""
    stage = Stage.objects.filter(run_id=run.pk, name=stage_name).first()
    if stage is None:
        return None
    stage.run = run
    losses = loss_paths(stage)
    paths = [monitoring_path(stage.name, path) for path in (STEP_SECONDS, EXAMPLES)]
    # Examples are summed over all steps, so these series are read whole.
    points = read_curves(run, [*paths, *losses], whole=paths)
    seconds, examples = (points.get(path, Points.empty()) for path in paths)
    steps = align(seconds, {EXAMPLES: examples})
    if not len(steps):
        return None
    lasting, seen = steps.columns["step_seconds"], steps.columns[EXAMPLES]
    good = np.isfinite(lasting) & (lasting > 0) & np.isfinite(seen)
    if not np.any(good):
        return None
    return EarlierRun(
        name=run.name,
        step_seconds=float(lasting[good].mean()),
        examples_per_second=float(seen[good].sum() / lasting[good].sum()),
        step_times=steps.times[good],
        step_examples=seen[good],
        losses=losses_of({path: points[path] for path in losses if path in points}),
    )
