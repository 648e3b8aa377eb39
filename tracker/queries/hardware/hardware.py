"""Agent metrics of the stages of a run, as lines over time."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, takewhile

from tracker.models import Run
from tracker.queries.run.attributes import AttributeRow, attribute_values, series_paths
from tracker.queries.run.namespaces import MONITORING, monitoring_path
from tracker.queries.series.series import Axis, Line, read_lines

RANK = re.compile(r"rank-(\d{1,9})/")
NUMBERED = re.compile(r"(?<![^/])(gpu|mig|worker)/\d{1,4}(?=/)")
LETTERS = {"gpu": "<i>", "mig": "<j>", "worker": "<n>"}
# The second one is for externally monitored programs, about their internal metrics.
READINGS = ("facts/readings", "facts/readings_of_process")
# Enough for a full-width chart; a page has about twenty of them.
BUCKETS = 300


@dataclass(frozen=True, slots=True)
class Measured:
    """One series of a stage; `measure` is its path below the stage and the rank."""

    stage: str
    rank: int
    measure: str
    line: Line


@dataclass(frozen=True, slots=True)
class Measure:
    """A series of a stage; `measure` is its path below the stage and the rank."""

    path: str
    stage: str
    rank: int
    measure: str


@dataclass(frozen=True, slots=True)
class Description:
    """The run's description of a sampled metric: its scope and quality."""

    scope: str
    quality: float
    source: str = ""


@dataclass(frozen=True, slots=True)
class Summary:
    """The summary of one measure over a whole stage; `description` None if unknown."""

    stage: str
    measure: str
    row: AttributeRow
    description: Description | None


def measured_lines(
    run: Run,
    stages: Collection[str],
    is_requested: Callable[[str], bool],
    *,
    low: float | None = None,
    high: float | None = None,
) -> list[Measured]:
    """Read the requested measures of these stages over time, in milliseconds since 1970."""
    selected = [
        each for each in list_measures(run, stages) if is_requested(each.measure)
    ]
    lines = read_lines(
        [(run, each.path) for each in selected],
        axis=Axis.TIME,
        low=low,
        high=high,
        buckets=BUCKETS,
    )
    return [
        Measured(each.stage, each.rank, each.measure, line)
        for each, line in zip(selected, lines, strict=True)
    ]


def list_measures(run: Run, stages: Collection[str]) -> list[Measure]:
    """Return the measures of these stages, in one statement."""
    # One stage is read by index prefix; for several, all paths are read together.
    several = len(stages) > 1
    every = series_paths(run, MONITORING) if several else []
    found = []
    for stage in stages:
        prefix = monitoring_path(stage)
        paths = _between(every, prefix) if several else series_paths(run, prefix)
        found += [Measure(path, stage, *below_stage(path, stage)) for path in paths]
    return found


def summaries_of(run: Run, measures: Sequence[Measure]) -> list[Summary]:
    """Read the summaries of these measures, with the quality that their runs report."""
    stages = {each.stage for each in measures}
    described = {
        stage: [monitoring_path(stage, path) for path in READINGS] for stage in stages
    }
    paths = [each.path for each in measures] + [*chain(*described.values())]
    rows = attribute_values([run.id], paths)[run.id]
    qualities = {
        stage: descriptions_of(*map(rows.get, each))
        for stage, each in described.items()
    }
    return [
        Summary(
            each.stage,
            each.measure,
            rows[each.path],
            qualities[each.stage].get(_pattern(each.measure)),
        )
        for each in measures
        if each.path in rows and rows[each.path].count
    ]


def descriptions_of(*rows: AttributeRow | None) -> dict[str, Description]:
    """Return a run's descriptions of its metrics, by path with letters for numbers."""
    texts = [row.value for row in rows if row is not None]
    found: dict[str, Description] = {}
    for line in chain(*(t.splitlines() for t in texts if isinstance(t, str))):
        path, *rest = line.split("\t")
        # Clients may write anything here. Columns: unit, scope, quality, source.
        with suppress(IndexError, ValueError):
            quality = float(rest[2])
            if 0.0 < quality <= 1.0:
                found[path] = Description(rest[1], quality, *rest[3:4])
    return found


def stage_lines(
    run: Run,
    stage: str,
    paths: Mapping[str, str],
    *,
    low: float | None = None,
    high: float | None = None,
) -> dict[str, Line]:
    """Read some measures of a stage's first process over time, by the given names."""
    known = set(series_paths(run, monitoring_path(stage)))
    there = {
        name: monitoring_path(stage, path)
        for name, path in paths.items()
        if monitoring_path(stage, path) in known
    }
    lines = read_lines(
        [(run, path) for path in there.values()],
        axis=Axis.TIME,
        low=low,
        high=high,
        buckets=BUCKETS,
    )
    return dict(zip(there, lines, strict=True))


def _between(paths: Sequence[str], prefix: str) -> Sequence[str]:
    """Return the paths of a sorted sequence that begin with a prefix."""
    first = bisect_left(paths, prefix)
    return list(takewhile(lambda path: path.startswith(prefix), paths[first:]))


def _pattern(measure: str) -> str:
    return NUMBERED.sub(lambda m: f"{m[1]}/{LETTERS[m[1]]}", measure)


def below_stage(path: str, stage: str) -> tuple[int, str]:
    """Return the rank and the measure in a path of a stage."""
    measure = path.removeprefix(monitoring_path(stage))
    if rank := RANK.match(measure):
        return int(rank[1]), measure[rank.end() :]
    return 0, measure
