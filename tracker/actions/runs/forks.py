"""Forks runs: copies the series of another run up to a step.

A copy keeps all readers of series unchanged, and a fork complete when its source is
deleted, moved or logged to again. Hardware metrics are not copied: they describe the
machine and the time of the source.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from uuid import UUID

import numpy as np
from django.db import transaction
from django.db.models import Q, QuerySet
from numpy.typing import NDArray

from tracker.actions.work import request_work
from tracker.models import Attribute, File, Fork, Kind, Run, WorkKind
from tracker.queries.run.namespaces import MONITORING
from tracker.queries.series.rewinds import read_replaced
from tracker.queries.series.series import read_many_points
from tracker.records.record import Records
from tracker.records.record import one_after_the_other as joined
from tracker.records.store import add_records, read_parts
from tracker.records.stored_file import read_stored_file
from tracker.series.compaction import PASS_POINTS, insert_chunks
from tracker.series.points import Points
from tracker.series.rewinds import Replaced
from tracker.series.rows import make_chunks
from tracker.series.store import Overtaken, batches
from tracker.series.summary import add_to_summaries, summaries
from tracker.series.table import side_by_side, table_of

# Series per transaction.
SERIES_AT_ONCE = 1_000
FILES = (Kind.IMAGE_SERIES, Kind.FILE_SERIES)
SERIES = (Kind.FLOAT_SERIES, Kind.TEXT_SERIES, Kind.HISTOGRAM_SERIES, *FILES)


@dataclass(frozen=True, slots=True)
class _Series:
    """A series of the source."""

    id: int
    path: str
    kind: Kind
    count: int


def fork_run(run: Run, source: str, step: float | None) -> str | None:
    """Make a run without metrics a fork of the named run, and request the copy.

    Return the reason if that is not possible. Later processes of a fork change nothing.
    """
    if Fork.objects.filter(run=run).exists():
        return None
    if step is None or not math.isfinite(step):
        return "The run is not forked: its step is not a number."
    if _series_of(run).exists():
        return "The run is not forked: it already has metrics. Fork into a new run."
    found = _named(run, source)
    if found is None:
        return f"The run is not forked: its project has no other run {source!r}."
    if found.trashed_at is not None:
        return f"The run is not forked: {source!r} is in the trash. Restore it first."
    fork = Fork(run=run, source=found, step=step + 0.0)
    Fork.objects.bulk_create([fork], ignore_conflicts=True)
    request_work(run.id, WorkKind.COMPACT)
    return None


def copy_series(run_id: UUID) -> bool:
    """Copy the series that a fork still lacks; return False if its source lacks some."""
    pending = Fork.objects.filter(run=run_id, is_copied=False)
    fork = pending.select_related("source").first()
    if fork is None:
        return True
    if Fork.objects.filter(run=fork.source_id, is_copied=False).exists():
        return False
    source = fork.source
    if source is not None and source.purging_at is None:
        for group in _groups(source, fork.copied_path):
            if group[0].kind == Kind.FLOAT_SERIES:
                _copy_points(fork, source, group)
            else:
                _copy_records(fork, source, group[0])
    Fork.objects.filter(id=fork.id).update(is_copied=True)
    return True


def _named(run: Run, name: str) -> Run | None:
    others = Run.objects.filter(project=run.project_id).exclude(id=run.id)
    try:
        run_id = UUID(name)
    except ValueError:
        return others.launched_as(name).last()
    return others.filter(Q(id=run_id) | Q(name=name)).first()


def _series_of(run: Run, after: str = "") -> QuerySet[Attribute]:
    series = Attribute.objects.filter(run=run, kind__in=SERIES, path__gt=after)
    return series.exclude(path__startswith=MONITORING)


def _groups(source: Run, after: str) -> Iterator[list[_Series]]:
    """Yield series that are copied in one transaction, in order of their paths.

    A series of records, or with very many points, is alone.
    """
    rows = _series_of(source, after).order_by("path")
    group: list[_Series] = []
    points = 0
    for row in list(rows.only("path", "kind", "count")):
        series = _Series(row.pk, row.path, Kind(row.kind), row.count)
        points += series.count
        is_alike = group and group[0].kind == series.kind == Kind.FLOAT_SERIES
        if not is_alike or len(group) == SERIES_AT_ONCE or points > PASS_POINTS:
            if group:
                yield group
            group, points = [], series.count
        group.append(series)
    if group:
        yield group


def _copy_points(fork: Fork, source: Run, group: list[_Series]) -> None:
    found = read_many_points(source, [series.path for series in group])
    kept = {path: points[points.steps <= fork.step] for path, points in found.items()}
    with transaction.atomic():
        _write_points(fork, {path: each for path, each in kept.items() if len(each)})
        _advance(fork, group[-1].path)


def _write_points(fork: Fork, points: Mapping[str, Points]) -> None:
    ids = _registered(fork, points, Kind.FLOAT_SERIES)
    tables = side_by_side(
        table_of([series_id], [points[path]]) for path, series_id in ids.items()
    )
    insert_chunks([new for each in tables for new in make_chunks(fork.run_id, each)])
    new = [summary for table in tables for summary in summaries(table)]
    if add_to_summaries(fork.run_id, new) != len(new):
        raise Overtaken("a series was deleted")


def _copy_records(fork: Fork, source: Run, series: _Series) -> None:
    replaced = read_replaced([source], [series.path]).get((source.id, series.path))
    parts = [
        part.records.those(_is_kept(part.records, fork.step, replaced))
        for part in read_parts(source.id, series.id, 0, series.count)
    ]
    with transaction.atomic():
        if any(map(len, parts)):
            _write_records(fork, source, series, joined(parts))
        _advance(fork, series.path)


def _is_kept(
    records: Records, last_step: float, replaced: Replaced | None
) -> NDArray[np.bool_]:
    is_kept = records.steps <= last_step
    if replaced is not None:
        is_kept &= records.times >= replaced.until(records.steps)
    return is_kept


def _write_records(fork: Fork, source: Run, series: _Series, records: Records) -> None:
    ids = _registered(fork, [series.path], series.kind)
    add_records(fork.run_id, dict.fromkeys(ids.values(), records), None)
    if not ids or series.kind not in FILES:
        return
    files = File.objects.filter(run=source, path=series.path)
    digests = sorted({read_stored_file(value).digest for value in records.listed()})
    for some in batches(digests):
        copies = list(files.filter(digest__in=some))
        for copy in copies:
            copy.pk, copy.run_id = None, fork.run_id
        File.objects.bulk_create(copies, ignore_conflicts=True)


def _registered(fork: Fork, paths: Collection[str], kind: Kind) -> dict[str, int]:
    """Return the ids of the fork's series, without paths that hold something else."""
    project_id = Run.objects.values_list("project_id", flat=True).get(id=fork.run_id)
    rows = [
        Attribute(run_id=fork.run_id, project_id=project_id, path=path, kind=kind)
        for path in sorted(paths)
    ]
    Attribute.objects.bulk_create(rows, ignore_conflicts=True)
    # Locked after its attributes, as by batches; a move changes both.
    run = Run.objects.select_for_update(no_key=True).filter(id=fork.run_id)
    if not run.filter(project=project_id, purging_at=None).exists():
        raise Overtaken("the run was moved or is being deleted")
    ids: dict[str, int] = {}
    for some in batches(sorted(paths)):
        found = Attribute.objects.filter(run=fork.run_id, kind=kind, path__in=some)
        ids.update(found.values_list("path", "id"))
    return ids


def _advance(fork: Fork, path: str) -> None:
    """Record the last copied path; fail if another worker copied the same series."""
    rows = Fork.objects.filter(id=fork.id, copied_path=fork.copied_path)
    if not rows.update(copied_path=path):
        raise Overtaken("another worker copies these series")
    fork.copied_path = path
