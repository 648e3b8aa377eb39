"""Runs that are forked from other runs when they open."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, datetime
from uuid import uuid4

import numpy as np
import pytest

from tests.builders import (
    START,
    actor_of,
    frames,
    make_project,
    make_run,
    open_message,
    points_message,
    records_message,
    write,
    write_series,
)
from tracker.actions.people.audit_context import AuditContext
from tracker.actions.runs.forks import copy_series
from tracker.actions.runs.moves import move_run
from tracker.actions.runs.purging import purge_run
from tracker.actor import Grant, Part, actor_of_link
from tracker.ingest.limits import LIMITS
from tracker.ingest.write import store_batch
from tracker.models import Attribute, File, Fork, Run, State, Work, WorkKind
from tracker.queries.run.family import fork_point_of
from tracker.queries.runs.filter.filters import Found, RunFilter, read_query
from tracker.queries.series.series import read_line, read_many_points, read_points
from tracker.records.store import read_parts
from tracker.series.compaction import compact_run
from tracker.tasks import do_work

pytestmark = [pytest.mark.django_db, pytest.mark.database, pytest.mark.postgresql]

LOSS = "train/loss"


@pytest.fixture
def project(member):
    return make_project(member)


@pytest.fixture
def source(project):
    run = make_run(project, "a")
    write_series(run, LOSS, [5.0, 4.0, 3.0, 2.0, 1.0])
    return run


def fork(member, name="b", *, of="a", step=2.0, messages=()):
    opening = open_message(
        name, project="vision", fork_from=of, fork_step=step, time=START + 10**9
    )
    batch = frames([[opening], list(messages)])
    receipt = store_batch(actor_of(member), uuid4(), batch)
    return Run.objects.get(id=receipt.run), receipt


def copied(member, **options):
    run, receipt = fork(member, **options)
    assert receipt.refused == ()
    assert copy_series(run.id)
    return run


def steps_and_values(run, path=LOSS):
    points = read_points(run, path)
    return dict(zip(points.steps.tolist(), points.values.tolist(), strict=True))


def test_a_fork_begins_with_the_points_up_to_its_step(member, source):
    run = copied(member)

    assert steps_and_values(run) == {0: 5.0, 1: 4.0, 2: 3.0}
    assert steps_and_values(source) == {0: 5.0, 1: 4.0, 2: 3.0, 3: 2.0, 4: 1.0}


@pytest.mark.parametrize("is_compacted", [True, False])
def test_charts_and_summaries_join_both_parts(member, source, is_compacted):
    if is_compacted:
        compact_run(source.id)
    run, _ = fork(member, messages=[points_message(LOSS, [9.0, 0.5], steps=[3, 4])])
    copy_series(run.id)
    compact_run(run.id)

    line = read_line(run, LOSS)
    assert line.x.tolist() == [0, 1, 2, 3, 4]
    assert line.mean.tolist() == [5.0, 4.0, 3.0, 9.0, 0.5]
    row = Attribute.objects.get(run=run, path=LOSS)
    assert (row.count, row.number, row.minimum, row.maximum) == (5, 0.5, 0.5, 9.0)
    assert (row.first_step, row.last_step) == (0, 4)


def test_a_worker_copies_once(member, source):
    run, _ = fork(member)
    work = Work.objects.get(run=run, kind=WorkKind.COMPACT)

    assert do_work(work.id)
    assert copy_series(run.id)

    assert len(steps_and_values(run)) == 3
    assert Fork.objects.get(run=run).is_copied


def test_a_copy_that_was_interrupted_continues(member, source, monkeypatch):
    write_series(source, "val/loss", [7.0, 6.0])
    monkeypatch.setattr("tracker.actions.runs.forks.SERIES_AT_ONCE", 1)
    run, _ = fork(member)

    def read(source, paths):
        if "val/loss" in paths:
            raise RuntimeError("killed")
        return read_many_points(source, paths)

    with monkeypatch.context() as patch:
        patch.setattr("tracker.actions.runs.forks.read_many_points", read)
        with pytest.raises(RuntimeError):
            copy_series(run.id)
    assert len(steps_and_values(run)) == 3
    copy_series(run.id)

    assert steps_and_values(run) == {0: 5.0, 1: 4.0, 2: 3.0}
    assert steps_and_values(run, "val/loss") == {0: 7.0, 1: 6.0}


def test_hardware_metrics_are_not_copied(member, source):
    write_series(source, "monitoring/train/gpu/0/utilization", [50.0])

    run = copied(member)

    assert not Attribute.objects.filter(
        run=run, path__startswith="monitoring/"
    ).exists()


def test_texts_and_pictures_are_copied(member, source):
    digest = "ab" * 32
    picture = bytes.fromhex(digest) + (3).to_bytes(8, "little") + b"image/png"
    write(
        source,
        [
            records_message("samples", ["one", "two", "later"], steps=[0, 2, 3]),
            records_message("pictures", [picture], kind="image", steps=[1]),
        ],
    )

    run = copied(member)

    texts = Attribute.objects.get(run=run, path="samples")
    (part,) = read_parts(run.id, texts.id, 0, texts.count)
    assert part.records.listed() == [b"one", b"two"]
    assert Attribute.objects.get(run=run, path="pictures").count == 1
    assert File.objects.get(run=run).digest == digest


def test_points_that_a_restart_replaced_are_not_copied(member, source):
    rewind = {
        "t": "rewind",
        "paths": [LOSS],
        "steps": np.array([1.0], "<f8").tobytes(),
        "time": START + 10**8,
    }
    again = points_message(
        LOSS, [8.0, 7.0], steps=[1, 2], times=[START + 2 * 10**8] * 2
    )
    write(source, [rewind, again])

    assert steps_and_values(copied(member)) == {0: 5.0, 1: 8.0, 2: 7.0}


def test_a_fork_of_a_fork_waits_for_its_source(member, source):
    first, _ = fork(member, "b", step=3)
    second, _ = fork(member, "c", of="b", step=1)

    assert not copy_series(second.id)
    copy_series(first.id)
    assert copy_series(second.id)

    assert steps_and_values(second) == {0: 5.0, 1: 4.0}


def test_a_fork_names_its_source_by_name_or_id(member, source):
    for name, of in (("b", "a"), ("c", str(source.id))):
        run = copied(member, name=name, of=of)
        assert fork_point_of(run, actor_of(member)).run.id == source.id


def test_a_second_process_of_a_fork_changes_nothing(member, source):
    run = copied(member, messages=[points_message(LOSS, [9.0], steps=[3])])

    again, receipt = fork(member)

    assert (again, receipt.refused) == (run, ())
    assert Fork.objects.count() == 1


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"of": "unknown"}, "no other run 'unknown'"),
        ({"of": "b"}, "no other run 'b'"),
        ({"of": "gone"}, "in the trash"),
        ({"of": "foreign"}, "no other run 'foreign'"),
        ({"step": math.nan}, "not a number"),
        ({"step": None}, "not a number"),
    ],
)
def test_a_run_that_cannot_be_forked_goes_on_without(
    member, project, source, options, reason
):
    gone = make_run(project, "gone")
    Run.objects.filter(id=gone.id).update(trashed_at=datetime.now(UTC))
    make_run(make_project(member, "other"), "foreign")

    point = points_message(LOSS, [9.0], steps=[3])
    run, receipt = fork(member, messages=[point], **options)

    (refusal,) = receipt.refused
    assert refusal.code == "invalid_fork"
    assert reason in refusal.message
    assert steps_and_values(run) == {3: 9.0}
    assert not Fork.objects.exists()


def test_a_run_with_metrics_is_not_forked(member, project, source):
    write_series(make_run(project, "b"), LOSS, [1.0])

    _, receipt = fork(member)

    assert "already has metrics" in receipt.refused[0].message


def test_a_fork_keeps_its_points_when_its_source_is_deleted(member, source):
    run = copied(member)
    Run.objects.filter(id=source.id).update(trashed_at=datetime.now(UTC))
    assert fork_point_of(run, actor_of(member)).run is None

    Run.objects.filter(id=source.id).update(purging_at=datetime.now(UTC))
    assert purge_run(source.id, seconds=60).is_done

    assert len(steps_and_values(run)) == 3
    found = fork_point_of(run, actor_of(member))
    assert (found.step, found.run) == (2.0, None)


def test_a_source_that_is_deleted_before_the_copy_leaves_an_empty_fork(member, source):
    run, _ = fork(member)
    Run.objects.filter(id=source.id).update(purging_at=datetime.now(UTC))
    purge_run(source.id, seconds=60)

    assert copy_series(run.id)

    assert steps_and_values(run) == {}


def test_a_fork_in_another_project_still_links_to_its_source(member, source):
    run = copied(member)
    target = make_project(member, "other")
    Run.objects.filter(id=run.id).update(state=State.FINISHED)

    move_run(Run.objects.get(id=run.id), target, AuditContext(member.user_id))

    assert fork_point_of(run, actor_of(member)).run.id == source.id


def found(project, query):
    runs = Found(project.id, RunFilter(query=read_query(query))).runs()
    return set(runs.values_list("name", flat=True))


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("forked_from = a", {"b"}),
        ("forked_from != a", {"c"}),
        ('forked_from ~ "B"', {"c"}),
        ("exists forked_from", {"b", "c"}),
        ("not exists forked_from", {"a"}),
        ("not forked_from = a", {"a", "c"}),
        ("exists train/loss and not forked_from = b", {"a", "b"}),
    ],
)
def test_queries_find_forks(member, project, source, query, names):
    copied(member)
    copied(member, name="c", of="b", step=1.0)

    assert found(project, query) == names


def test_a_fork_of_a_run_in_the_trash_or_elsewhere_is_found_as_none(
    member, project, source
):
    copied(member)
    Run.objects.filter(id=source.id).update(trashed_at=datetime.now(UTC))
    assert found(project, "not exists forked_from") == {"b"}

    other = make_project(member, "other")
    Run.objects.filter(id=source.id).update(trashed_at=None, project=other)
    assert found(project, "not exists forked_from") == {"b"}


def test_copied_series_count_towards_the_attributes_of_a_run(
    member, source, monkeypatch
):
    write_series(source, "val/loss", [7.0])
    copied(member)
    monkeypatch.setattr("tracker.ingest.pipeline.LIMITS", replace(LIMITS, attributes=3))

    points = [points_message(path, [1.0], steps=[3]) for path in (LOSS, "a", "b")]
    _, receipt = fork(member, messages=points)

    assert [refusal.code for refusal in receipt.refused] == ["too_many_attributes"]


def test_a_share_link_of_a_fork_does_not_name_its_source(member, source):
    run = copied(member)

    def seen(*runs):
        things = {"run": frozenset(each.id for each in runs)}
        made_by = member.user_id
        grant = Grant(1, run.project_id, things, frozenset(Part), made_by=made_by)
        return fork_point_of(run, actor_of_link(grant))

    assert seen(run).run is None
    assert seen(run, source).run.name == "a"


def test_purging_a_fork_removes_its_fork_point(member, source):
    run = copied(member)
    Run.objects.filter(id=run.id).update(
        trashed_at=datetime.now(UTC), purging_at=datetime.now(UTC)
    )

    assert purge_run(run.id, seconds=60).is_done

    assert not Fork.objects.exists()
