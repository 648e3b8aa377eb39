from __future__ import annotations

import logging
import threading
from uuid import uuid4

import numpy as np
import pytest
from django.db import connection

from tests.builders import make_project, make_run, points_message, write, write_series
from tests.tracker.series.examples import SECOND, START, noise, points, same
from tests.tracker.series.test_codec import GOLDEN, golden_points
from tracker.models import (
    Attribute,
    JournalEntry,
    Run,
    SeriesChunk,
    SeriesTicks,
    State,
)
from tracker.queries.series.series import read_line, read_points
from tracker.series import compaction
from tracker.series.codec import FULL_POINTS
from tracker.series.compaction import OPEN_CHUNKS, compact_run, needs_compaction
from tracker.series.points import concatenate
from tracker.series.store import read_chunks

pytestmark = [pytest.mark.django_db, pytest.mark.database, pytest.mark.postgresql]

PATH = "train/loss"


@pytest.fixture
def run(member):
    return make_run(make_project(member))


def series_of(run, path=PATH):
    return Attribute.objects.get(run=run, path=path)


def chunks_of(run):
    return list(SeriesChunk.objects.filter(run=run).order_by("first_step", "id"))


def points_of(chunk):
    return read_chunks({chunk.run_id}, [chunk.id])[chunk.id]


def finish(run):
    Run.objects.filter(id=run.id).update(state=State.FINISHED)


def test_points_move_from_the_journal_to_a_chunk(run):
    write_series(run, PATH, [3, 1, 2])

    assert compact_run(run.id) == 3

    assert not needs_compaction(run.id)
    (chunk,) = chunks_of(run)
    assert same(points_of(chunk), points([3, 1, 2]))
    assert (chunk.count, chunk.minimum, chunk.maximum, chunk.total) == (3, 1, 3, 6)
    assert chunk.is_open


def test_the_series_is_summarized(run):
    write_series(run, PATH, [3, 1, 2])
    compact_run(run.id)
    write_series(run, PATH, [0, 8], steps=[10, 11], times=[START, START + 1])
    compact_run(run.id)

    series = series_of(run)
    assert (series.count, series.finite_count, series.total) == (5, 5, 14)
    assert (series.minimum, series.maximum, series.number) == (0, 8, 8)
    assert (series.first_step, series.last_step) == (0, 11)
    assert (series.first_time, series.last_time) == (START, START + 2 * SECOND)


def test_compacting_twice_is_compacting_once(run):
    write_series(run, PATH, [3, 1, 2])

    assert [compact_run(run.id), compact_run(run.id)] == [3, 0]

    assert series_of(run).count == 3
    assert len(chunks_of(run)) == 1


def test_new_points_become_a_chunk_and_small_chunks_are_joined(run):
    counts = []
    for step in range(2 * OPEN_CHUNKS):
        write_series(run, PATH, [step], steps=[step])
        compact_run(run.id)
        counts.append([chunk.count for chunk in chunks_of(run)])

    assert counts[OPEN_CHUNKS - 2] == [1] * (OPEN_CHUNKS - 1)
    assert counts[OPEN_CHUNKS - 1] == [OPEN_CHUNKS]
    assert all(len(some) < OPEN_CHUNKS for some in counts)
    assert read_points(run, PATH).values.tolist() == list(range(2 * OPEN_CHUNKS))


def test_after_the_run_all_chunks_are_joined(run):
    for step in range(3):
        write_series(run, PATH, [step], steps=[step])
        compact_run(run.id)
    finish(run)

    compact_run(run.id)
    (chunk,) = chunks_of(run)
    compact_run(run.id)

    assert chunks_of(run) == [chunk]
    assert points_of(chunk).values.tolist() == [0, 1, 2]


def test_a_compaction_whose_chunks_are_gone_leaves_them_to_the_other(run, monkeypatch):
    for step in range(2):
        write_series(run, PATH, [step], steps=[step])
        compact_run(run.id)
    finish(run)
    read = compaction.read_chunks

    def read_too_late(run_ids, ids):
        monkeypatch.setattr(compaction, "read_chunks", read)
        compaction.merge_chunks(run.id)
        return read(run_ids, ids)

    monkeypatch.setattr(compaction, "read_chunks", read_too_late)

    compact_run(run.id)

    assert [chunk.count for chunk in chunks_of(run)] == [2]


def test_series_logged_together_share_their_ticks(run):
    for first in (0, 3):
        steps = range(first, first + 3)
        write(
            run,
            [points_message(path, [1, 2, 3], steps=steps) for path in (PATH, "other")],
        )
        compact_run(run.id)
    assert [t.chunk_count for t in SeriesTicks.objects.all()] == [2, 2]
    finish(run)

    compact_run(run.id)

    assert [ticks.chunk_count for ticks in SeriesTicks.objects.all()] == [2]
    for path in (PATH, "other"):
        assert read_points(run, path).steps.tolist() == list(range(6))


def test_ticks_stay_while_a_chunk_has_them(run):
    write(run, [points_message(path, [1, 2]) for path in (PATH, "alone")])
    compact_run(run.id)
    write_series(run, PATH, [3], steps=[2])
    finish(run)
    compact_run(run.id)

    assert sorted(t.chunk_count for t in SeriesTicks.objects.all()) == [1, 1]
    assert read_points(run, "alone").values.tolist() == [1, 2]
    assert read_points(run, PATH).values.tolist() == [1, 2, 3]


def test_chunks_of_the_first_version_are_joined_like_others(run):
    write_series(run, PATH, [9], steps=[100])
    compact_run(run.id)
    golden = (GOLDEN / "chunk-v1.bin").read_bytes()
    template = SeriesChunk.objects.get()
    template.id, template.ticks, template.data = None, None, golden
    template.count, template.first_step, template.last_step = 8, -1, 1e9
    template.save(force_insert=True)
    finish(run)

    compact_run(run.id)

    (chunk,) = chunks_of(run)
    expected = concatenate([golden_points(), points_at([9], 100)])
    assert same(points_of(chunk), expected.sorted_by_step())


def points_at(values, step):
    return points(values, steps=[step])


def test_a_full_chunk_is_closed_and_the_next_begun(run):
    write_series(run, PATH, noise(FULL_POINTS - 1))
    compact_run(run.id)
    for first, count in ((FULL_POINTS - 1, 9), (FULL_POINTS + 8, 5)):
        write_series(run, PATH, noise(count), steps=np.arange(first, first + count))
        compact_run(run.id)
    assert [c.is_open for c in chunks_of(run)] == [True] * 3

    finish(run)
    compact_run(run.id)
    (joined,) = chunks_of(run)
    assert (joined.count, joined.is_open) == (FULL_POINTS + 13, False)
    late = np.arange(FULL_POINTS + 13, FULL_POINTS + 18)
    write_series(run, PATH, noise(5), steps=late)
    compact_run(run.id)

    assert [(c.count, c.is_open) for c in chunks_of(run)] == [
        (FULL_POINTS + 13, False),
        (5, True),
    ]
    # A full chunk is not written again.
    assert chunks_of(run)[0].id == joined.id


def test_a_backlog_is_written_once(run, monkeypatch):
    monkeypatch.setattr(compaction, "PASS_POINTS", 10_000)
    for first in range(0, 50_000, 1_000):
        steps = np.arange(first, first + 1_000)
        write_series(run, PATH, noise(1_000), steps=steps)
    finish(run)

    compact_run(run.id)

    chunks = chunks_of(run)
    assert [chunk.count for chunk in chunks] == [10_000] * 5
    assert chunks[-1].id - chunks[0].id == len(chunks) - 1


def test_joining_takes_no_more_points_at_a_time_than_it_may(run, monkeypatch):
    monkeypatch.setattr(compaction, "PASS_POINTS", 10)
    for step in range(3):
        for path in "abcd":
            write_series(run, path, [step], steps=[step])
        compact_run(run.id)
    finish(run)

    joined = list(compaction._mergeable(run.id, 2))
    compact_run(run.id)

    assert [len(series) for series in joined] == [3, 1]
    assert [chunk.count for chunk in chunks_of(run)] == [3] * 4


def test_joining_takes_no_more_rows_at_a_time_than_it_may_and_goes_on(run, monkeypatch):
    monkeypatch.setattr(compaction, "JOINED_CHUNKS", 8)
    paths = "abcdefg"
    for step in range(3):
        messages = [points_message(path, [step], steps=[step]) for path in paths]
        write(run, messages)
        compact_run(run.id)
    finish(run)
    changed = []
    replace = compaction._replace

    def replacing(merger):
        changed.append((len(merger.chunk_ids), _rows_of(merger.chunks)))
        replace(merger)

    monkeypatch.setattr(compaction, "_replace", replacing)

    compact_run(run.id)

    assert changed == [(6, 2), (6, 2), (6, 2), (3, 1)]
    assert [chunk.count for chunk in chunks_of(run)] == [3] * len(paths)
    assert sum(ticks.chunk_count for ticks in SeriesTicks.objects.all()) == len(paths)
    for path in paths:
        assert read_points(run, path).values.tolist() == [0, 1, 2]


def _rows_of(new):
    return sum(len(each.chunks) for each in new)


def test_the_later_of_two_merges_changes_nothing(run, monkeypatch):
    for step in range(2):
        write_series(run, PATH, [step], steps=[step])
        compact_run(run.id)
    finish(run)
    merger = compaction._make_merger(run.id, [series_of(run).id])
    compaction.merge_chunks(run.id)

    assert not compaction._is_done(compaction._replace, merger)

    assert read_points(run, PATH).values.tolist() == [0, 1]
    assert [ticks.chunk_count for ticks in SeriesTicks.objects.all()] == [1]


def test_steps_out_of_order_lie_in_order(run):
    write_series(run, PATH, [5, 6], steps=[5, 6])
    write_series(run, PATH, [1, 2, 5.5], steps=[1, 2, 5])
    compact_run(run.id)

    assert points_of(chunks_of(run)[0]).steps.tolist() == [1, 2, 5, 5, 6]
    assert series_of(run).number == 6


@pytest.mark.parametrize(
    ("second", "last"),
    [
        pytest.param({"steps": [1], "times": [START + 9 * SECOND]}, 1, id="lower step"),
        pytest.param({"steps": [2], "times": [START + 9 * SECOND]}, 7, id="later"),
        pytest.param({"steps": [2], "times": [START]}, 1, id="earlier"),
    ],
)
def test_the_last_value_is_that_of_the_highest_step_and_the_latest_time(
    run, second, last
):
    write_series(run, PATH, [1], steps=[2], times=[START + SECOND])
    compact_run(run.id)
    write_series(run, PATH, [7], **second)
    compact_run(run.id)

    assert series_of(run).number == last


def test_nan_and_infinity_are_values(run):
    write_series(run, PATH, [np.inf, 2, np.nan])
    write_series(run, "nothing/but/nan", [np.nan, np.nan])
    compact_run(run.id)

    mixed, nan_only = series_of(run), series_of(run, "nothing/but/nan")
    assert (mixed.count, mixed.finite_count, mixed.total) == (3, 1, 2)
    assert (mixed.minimum, mixed.maximum) == (2, np.inf)
    assert (mixed.number, mixed.is_nan) == (None, True)
    assert (nan_only.minimum, nan_only.maximum, nan_only.count) == (None, None, 2)


def test_values_whose_total_is_beyond_every_float_are_stored(run):
    for _ in range(2):
        write_series(run, PATH, [1.7e308, 1.7e308, -1.7e308, 5e-324])
        compact_run(run.id)

    assert np.isfinite(series_of(run).total)


def test_a_pass_takes_no_more_than_it_may(run, monkeypatch):
    monkeypatch.setattr(compaction, "PASS_POINTS", 10)
    monkeypatch.setattr(compaction, "PASS_ENTRIES", 3)
    monkeypatch.setattr(compaction, "PASSES", 3)
    for step in range(5):
        write_series(run, PATH, [1] * 4, steps=range(4 * step, 4 * step + 4))
    write_series(run, PATH, noise(50))

    moved = [compact_run(run.id), compact_run(run.id)]

    assert moved == [20, 50]
    assert len(read_points(run, PATH)) == 70


def test_a_damaged_entry_is_kept_aside_and_blocks_nothing(run, caplog):
    write_series(run, PATH, [1])
    JournalEntry.objects.update(data=b"SMJ\x01 this is not what was written")
    write_series(run, PATH, [2], steps=[1])

    with caplog.at_level(logging.ERROR):
        assert compact_run(run.id) == 1

    assert "is damaged" in caplog.text
    assert JournalEntry.objects.get().is_damaged
    assert read_points(run, PATH).values.tolist() == [2]
    assert compact_run(run.id) == 0


def test_nothing_is_added_to_a_damaged_chunk(run):
    write_series(run, PATH, [1])
    compact_run(run.id)
    damaged = SeriesChunk.objects.get()
    SeriesChunk.objects.update(data=bytes(damaged.data)[:-1])
    write_series(run, PATH, [2], steps=[1])
    finish(run)
    compact_run(run.id)

    assert [(c.count, c.is_open) for c in chunks_of(run)] == [(1, False), (1, True)]
    assert read_points(run, PATH).values.tolist() == [2]


def test_points_of_a_deleted_series_are_dropped(run):
    write_series(run, PATH, [1])
    write_series(run, "kept", [1])
    Attribute.objects.filter(path=PATH).delete()

    assert compact_run(run.id) == 1

    assert not needs_compaction(run.id)


def test_a_deleted_run_is_no_error(run):
    write_series(run, PATH, [1])
    run_id = run.id
    run.delete()

    assert compact_run(run_id) == 0
    assert compact_run(uuid4()) == 0


def test_a_series_deleted_while_its_chunk_was_made_starts_the_pass_again(
    run, monkeypatch
):
    write_series(run, PATH, [1])
    write_series(run, "kept", [1])
    make_plan = compaction._make_plan

    def make_plan_too_early(run_id):
        plan = make_plan(run_id)
        Attribute.objects.filter(path=PATH).delete()
        return plan

    monkeypatch.setattr(compaction, "_make_plan", make_plan_too_early)

    assert compact_run(run.id) == 1
    assert [chunk.series.path for chunk in chunks_of(run)] == ["kept"]


def test_the_slower_of_two_compactions_does_nothing(run, monkeypatch):
    write_series(run, PATH, [1, 2, 3])
    make_plan = compaction._make_plan

    def make_plan_then_be_overtaken(run_id):
        plan = make_plan(run_id)
        monkeypatch.setattr(compaction, "_make_plan", make_plan)
        assert compact_run(run_id) == 3
        return plan

    monkeypatch.setattr(compaction, "_make_plan", make_plan_then_be_overtaken)

    assert compact_run(run.id) == 0
    assert series_of(run).count == 3
    assert read_points(run, PATH).values.tolist() == [1, 2, 3]


def test_killed_before_the_commit_it_has_changed_nothing(run, monkeypatch):
    write_series(run, PATH, [1, 2, 3])
    carry_out = compaction._carry_out

    def carry_out_and_die(plan):
        carry_out(plan)
        raise KeyboardInterrupt

    monkeypatch.setattr(compaction, "_carry_out", carry_out_and_die)
    with pytest.raises(KeyboardInterrupt):
        compact_run(run.id)
    monkeypatch.undo()

    assert needs_compaction(run.id)
    assert read_points(run, PATH).values.tolist() == [1, 2, 3]
    assert compact_run(run.id) == 3
    assert series_of(run).count == 3


@pytest.mark.django_db(transaction=True)
def test_workers_readers_and_a_writer_at_once_lose_and_double_nothing(run):
    counted: list[int] = []
    errors: list[BaseException] = []
    done = threading.Event()

    def read():
        while not done.is_set():
            counted.append(read_line(run, PATH).count)

    def compact():
        while not done.is_set():
            compact_run(run.id)

    def guarded(work):
        try:
            work()
        except BaseException as error:
            errors.append(error)
            raise
        finally:
            connection.close()

    threads = [
        threading.Thread(target=guarded, args=(work,))
        for work in (read, compact, compact)
    ]
    for thread in threads:
        thread.start()
    try:
        for step in range(0, 600, 20):
            write_series(run, PATH, noise(20), steps=range(step, step + 20))
    finally:
        done.set()
        for thread in threads:
            thread.join(timeout=30)
    compact_run(run.id)

    assert not errors
    assert counted == sorted(counted)
    assert read_points(run, PATH).steps.tolist() == list(range(600))
    assert series_of(run).count == 600
