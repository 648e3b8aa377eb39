"""Reads the steps of a stage's other processes, for rules that compare ranks."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
from django.db.models import Q

from tracker.diagnosis.analysis.alignment import align, align_ranks, split_phase
from tracker.diagnosis.analysis.stragglers import CORE_WAIT as WAIT
from tracker.diagnosis.engine.measurements import MICROSECONDS, Steps
from tracker.diagnosis.hardware.core_wait import without_core_waits
from tracker.diagnosis.signals import SIGNALS, Array, Ranks, Samples
from tracker.models import Kind, Stage, State
from tracker.queries.hardware.samples import LIVE_SECONDS
from tracker.queries.run.attributes import attribute_paths
from tracker.queries.run.namespaces import monitoring_path
from tracker.queries.series.thinned import read_common_steps, read_curves
from tracker.series.points import Points

# With more ranks than this, only the first ones are read.
MAX_RANKS = 64

# Times of nested phases are not compared.
RANK = re.compile(r"rank-(\d{1,6})/(step/(?!nested/).+)$")
PHASE = re.compile(r"step/(phase|device)/(.+)_seconds$")
SIGNAL_OF = {"phase": "phase_seconds", "device": "device_phase_seconds"}
CORE_WAIT = SIGNALS["job_main_thread_core_wait_share"].path
COLUMNS = ("step_seconds", "data_wait_seconds")


def read_ranks(stage: Stage, first: Steps) -> Ranks:
    """Return the steps of all ranks, aligned; `first` are those of rank 0."""
    prefix = monitoring_path(stage.name)
    is_step = Q(kind=Kind.FLOAT_SERIES) & Q(path__contains="/step/")
    found: dict[int, dict[str, str]] = {}
    for path in attribute_paths(stage.run, f"{prefix}rank-", where=is_step):
        if match := RANK.match(path.removeprefix(prefix)):
            found.setdefault(int(match[1]), {})[match[2]] = path
    if not found or not len(first):
        return Ranks()

    ranks = sorted(found)[: MAX_RANKS - 1]
    paths = [path for rank in ranks for path in found[rank].values()]
    # Long series are thinned except for recent points, which the short windows of a running
    # stage need.
    whole_seconds = LIVE_SECONDS if stage.state == State.RUNNING else 0.0
    points = read_common_steps(stage.run, paths, whole_seconds=whole_seconds)
    steps = {
        rank: _steps(
            {name: points[path] for name, path in found[rank].items() if path in points}
        )
        for rank in ranks
    }
    aligned = align_ranks({0: first} | steps)
    return _with_core_waits(stage, prefix, aligned)


def _with_core_waits(stage: Stage, prefix: str, ranks: Ranks) -> Ranks:
    """Add each rank's wait for a core in each step, if all of them report it."""
    paths = [
        f"{prefix}{CORE_WAIT}" if rank == 0 else f"{prefix}rank-{rank}/{CORE_WAIT}"
        for rank in ranks.ranks
    ]
    points = read_curves(stage.run, paths) if paths else {}
    if not paths or not all(len(points.get(path, ())) for path in paths):
        return ranks
    ends, lasting = ranks.times / MICROSECONDS, ranks.columns["step_seconds"]
    waits = [
        lasting[:, column]
        - without_core_waits(lasting[:, column], ends, _samples(points[path]))
        for column, path in enumerate(paths)
    ]
    return replace(ranks, columns={**ranks.columns, WAIT: np.column_stack(waits)})


def _samples(points: Points) -> Samples:
    in_order = points.sorted_by_time()
    return Samples(in_order.times, np.nan_to_num(in_order.values))


def _steps(points: dict[str, Points]) -> Steps:
    named = {name: points.get(SIGNALS[name].path) for name in COLUMNS}
    base = named.pop("step_seconds")
    if base is None or not len(base):
        return Steps.none()

    columns = {name: found for name, found in named.items() if found is not None}
    phases: dict[str, dict[str, Array]] = {}
    for path, phase in points.items():
        if match := PHASE.match(path):
            inside, _ = split_phase(base, phase)
            phases.setdefault(SIGNAL_OF[match[1]], {})[match[2]] = inside
    steps = align(base, columns)
    return Steps(steps.numbers, steps.times, steps.columns, phases)
