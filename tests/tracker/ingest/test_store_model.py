"""Compares the store with a model in memory, for any sequence of operations and crashes.

TEST_STORE_EXAMPLES sets the number of sequences, for example 20000.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import count
from unittest.mock import patch
from uuid import UUID, uuid4

import hypothesis
import numpy as np
import pytest
from django.db import connection, transaction
from django.utils import timezone
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from tests.builders import (
    START,
    Process,
    actor_of,
    frames,
    make_member,
    make_project,
    open_message,
    points_message,
)
from tracker.actions.runs import purging
from tracker.actions.runs.purging import purge_run
from tracker.actions.runs.states import mark_silent
from tracker.actions.runs.trash import (
    delete_expired,
    delete_for_good,
    move_silent_to_trash,
    move_to_trash,
    set_retention,
)
from tracker.errors import NotFound, OutOfOrder, TrackerError
from tracker.ingest.write import store_batch
from tracker.models import JournalEntry, Rewind, Run, SeriesChunk, SeriesTicks, Spool
from tracker.queries.projects.trash import TRASH_DAYS, expired_runs
from tracker.queries.run.attributes import list_attributes
from tracker.queries.series.series import read_line, read_many_points
from tracker.series.compaction import compact_run, needs_compaction
from tracker.series.points import Points, concatenate

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.database,
    # Hypothesis may need five minutes to find the shortest failing sequence.
    pytest.mark.timeout(0 if "TEST_STORE_EXAMPLES" in os.environ else 480),
]

# Few, to keep the test suite fast: each sequence calls the store about forty times.
EXAMPLES = int(os.environ.get("TEST_STORE_EXAMPLES", "10"))
STEPS_OF_A_STORY = 20
SPOOLS = 2
# Counts of sequences and of their steps.
TRIED = Counter[str]()
LONG_SECONDS = 60.0
# About as many as a call makes, so that some calls are not interrupted.
STATEMENTS = 25

Content = dict[str, Points]

PATHS = st.sampled_from(["train/loss", "val/loss", "lr", "größe/😀"])
ODD_BITS = [
    0x7FF8000000000000,  # NaN
    0x7FF8DEADBEEF0001,  # NaN with a payload
    0x7FF0000000000001,  # signaling NaN
    0xFFF8000000000000,  # negative NaN
    0x7FF0000000000000,  # infinity
    0xFFF0000000000000,  # negative infinity
    0x8000000000000000,  # negative zero
    0x0000000000000001,  # smallest subnormal
    0x7FEFFFFFFFFFFFFF,  # largest
    0xFFEFFFFFFFFFFFFF,  # lowest
]
BITS = st.one_of(st.sampled_from(ODD_BITS), st.integers(0, 2**64 - 1))
STEPS = st.one_of(
    st.integers(-3, 30).map(float),
    st.floats(-100, 100),
    st.sampled_from([-0.0, 0.1, 0.5, 2.0**53, -(2.0**53), 5e-324]),
)
TIMES = st.one_of(
    st.integers(-5, 5).map(lambda second: START + second * 1_000_000),
    st.integers(0, START),
)


def few_points() -> st.SearchStrategy[Points]:
    """Return points of any kind, in any order, with any bits."""
    rows = st.lists(st.tuples(STEPS, TIMES, BITS), max_size=6)
    return rows.map(
        lambda found: Points(
            np.array([step for step, _, _ in found], "<f8"),
            np.array([time for _, time, _ in found], "<i8"),
            np.array([bits for _, _, bits in found], "<u8").view("<f8"),
        )
    )


def many_points() -> st.SearchStrategy[Points]:
    """Return points as in training, in numbers that fill chunks."""
    return st.builds(
        make_many,
        length=st.sampled_from([100, 1_000, 9_000, 70_000]),
        kind=st.sampled_from(["constant", "walk", "bits"]),
        first=st.integers(-1_000, 100_000),
        stride=st.sampled_from([0.5, 1.0, 7.0]),
        seed=st.integers(0, 2**32 - 1),
    )


def make_many(
    *, length: int, kind: str, first: int, stride: float, seed: int
) -> Points:
    chance = np.random.default_rng(seed)
    steps = first + stride * np.arange(length)
    if kind == "bits":
        values = chance.integers(0, 2**64, length, dtype=np.uint64).view(np.float64)
        chance.shuffle(steps)
    elif kind == "walk":
        values = chance.normal(size=length).cumsum()
    else:
        values = np.full(length, chance.normal())
    return Points(steps, START + 10_000 * np.arange(length), values)


def aligned_points() -> st.SearchStrategy[Content]:
    """Return points of several series at the same steps and times."""
    return st.builds(
        lambda points, paths, seed: {
            path: Points(points.steps, points.times, np.roll(points.values, shift))
            for shift, path in enumerate(paths, start=seed)
        },
        few_points(),
        st.lists(PATHS, min_size=1, unique=True),
        st.integers(0, 5),
    )


FEW = st.dictionaries(PATHS, few_points(), max_size=3) | aligned_points()
MANY = st.dictionaries(PATHS, many_points(), min_size=1, max_size=1)
FRAMES = st.lists(FEW, min_size=1, max_size=4)
SPOOL = st.integers(0, SPOOLS - 1)


@dataclass(frozen=True)
class Rewound:
    """A rewind: these series are logged again from a step on, since a time."""

    steps: dict[str, float]
    time: int


REWOUND = st.builds(
    Rewound, st.dictionaries(PATHS, STEPS, min_size=1, max_size=2), TIMES
)


@dataclass
class SpoolModel:
    """The records of a process, and how many of them the tracker has stored."""

    opening: dict
    id: UUID = field(default_factory=uuid4)
    # From record 2 on; record 1 opens the run.
    contents: list[Content | Rewound] = field(default_factory=list)
    stored: int = 0

    @property
    def last(self) -> int:
        return len(self.contents) + 1

    def body(self, first: int, last: int) -> bytes:
        payloads = [
            [self.opening] if number == 1 else messages_of(self.contents[number - 2])
            for number in range(first, last + 1)
        ]
        return frames(payloads, first=first)


def messages_of(content: Content | Rewound) -> list[dict]:
    """Return the messages for points: series with equal steps and times in one message.

    No other code of this test depends on the message format.
    """
    if isinstance(content, Rewound):
        steps = np.array([*content.steps.values()], "<f8").tobytes()
        paths = [*content.steps]
        return [{"t": "rewind", "paths": paths, "steps": steps, "time": content.time}]
    together: dict[bytes, list[str]] = {}
    for path, points in content.items():
        shared = points.steps.tobytes() + points.times.tobytes()
        together.setdefault(shared, []).append(path)
    return [
        {
            **points_message(
                paths[0],
                np.empty(0),
                steps=content[paths[0]].steps,
                times=content[paths[0]].times,
            ),
            "paths": paths,
            "values": b"".join(content[path].values.tobytes() for path in paths),
        }
        for paths in together.values()
    ]


class Killed(BaseException):
    """The process ends at this point."""


@contextmanager
def killed_at(statement: int, *, is_done: bool):
    """Let the process end at a statement: before or after its execution."""
    numbers = count(1)

    def execute(run, sql, params, many, context):
        # A process that has ended sends no rollback; the database discards the transaction.
        number = 0 if sql.startswith("ROLLBACK") else next(numbers)
        if number == statement and not is_done:
            raise Killed
        result = run(sql, params, many, context)
        if number == statement:
            raise Killed
        return result

    with connection.execute_wrapper(execute):
        yield


class Store(RuleBasedStateMachine):
    """A run that two processes log to, and its expected content."""

    def __init__(self) -> None:
        super().__init__()
        self.now = timezone.now()
        self.clock = patch("django.utils.timezone.now", lambda: self.now)
        self.clock.start()
        # Undoes all changes at the end of a sequence.
        self.story = transaction.atomic()
        self.story.__enter__()
        self.actor = actor_of(make_member("model"))
        self.spools = [SpoolModel(open_message(rank=rank)) for rank in range(SPOOLS)]
        self.parts: dict[str, list[Points]] = {}
        self.rewinds: dict[str, list[tuple[float, int]]] = {}
        # No other connection waits for the database in this test.
        self.pauses = patch.object(purging, "SHORTEST_PAUSE_SECONDS", 0)
        self.pauses.start()
        TRIED["stories"] += 1

    def teardown(self) -> None:
        self.pauses.stop()
        transaction.set_rollback(True)
        self.story.__exit__(None, None, None)
        self.clock.stop()

    @property
    def run(self) -> Run | None:
        return Run.objects.filter(
            name="run", project__workspace_id=self.workspace
        ).first()

    @property
    def workspace(self) -> int:
        return self.actor.workspace_id

    @property
    def is_trashed(self) -> bool:
        return self.run is not None and self.run.trashed_at is not None

    @property
    def is_opened(self) -> bool:
        return any(spool.stored for spool in self.spools)

    def accept(self, spool: SpoolModel, last: int) -> None:
        """Note that the tracker has stored the records up to this one."""
        for number in range(spool.stored + 1, last + 1):
            content = spool.contents[number - 2] if number > 1 else {}
            if isinstance(content, Rewound):
                for path, step in content.steps.items():
                    self.rewinds.setdefault(path, []).append((step, content.time))
                continue
            for path, points in content.items():
                self.parts.setdefault(path, []).append(points)
        spool.stored = max(spool.stored, last)

    def ask(self, spool: SpoolModel, body: bytes) -> tuple[str, int]:
        """Send a body and return the tracker's answer, with its record number."""
        try:
            receipt = store_batch(self.actor, spool.id, body)
        except OutOfOrder as refusal:
            return "expected", refusal.expected
        except NotFound:
            return "not found", 0
        assert receipt.refused_count == 0
        return "stored", receipt.stored

    def transmit(self, spool: SpoolModel, first: int, last: int) -> None:
        """Send records, and check the response against the protocol."""
        answer = self.ask(spool, spool.body(first, last))
        if self.is_trashed:
            assert answer[0] != "stored"
        elif first > spool.stored + 1:
            assert answer == ("expected", spool.stored + 1)
        else:
            self.accept(spool, last)
            assert answer == ("stored", spool.stored)

    @rule(number=SPOOL, contents=FRAMES)
    def log(self, number, contents):
        spool = self.spools[number]
        spool.contents += contents
        self.transmit(spool, spool.stored + 1, spool.last)

    @rule(number=SPOOL, content=MANY)
    def log_many(self, number, content):
        self.log(number, [content])

    @rule(number=SPOOL, rewound=REWOUND, contents=FRAMES)
    def rewind(self, number, rewound, contents):
        """A later attempt logs series again, which hides the earlier points."""
        self.log(number, [rewound, *contents])

    @rule(number=SPOOL, contents=FRAMES)
    def hold_back(self, number, contents):
        self.spools[number].contents += contents

    @rule(number=SPOOL, data=st.data())
    def send_any(self, number, data):
        """Send any existing records: again, grouped differently, or with a gap."""
        spool = self.spools[number]
        first = data.draw(st.integers(1, spool.last), label="first")
        last = data.draw(st.integers(first, spool.last), label="last")
        self.transmit(spool, first, last)

    @rule(number=SPOOL)
    def send_nothing(self, number):
        spool = self.spools[number]
        answer = self.ask(spool, b"")
        if not spool.stored:
            assert answer == ("expected", 1)
        elif self.is_trashed:
            assert answer == ("not found", 0)
        else:
            assert answer == ("stored", spool.stored)

    @precondition(lambda self: any(spool.stored > 1 for spool in self.spools))
    @rule(content=FEW, data=st.data())
    def contradict(self, content, data):
        """Send a record number again with other content: refused or ignored, never stored."""
        written = [spool for spool in self.spools if spool.stored > 1]
        spool = data.draw(st.sampled_from(written), label="spool")
        number = data.draw(st.integers(2, spool.stored), label="number")
        other = SpoolModel(spool.opening, contents=list(spool.contents))
        other.contents[number - 2] = content
        try:
            receipt = store_batch(self.actor, spool.id, other.body(number, number))
        except TrackerError:
            return
        assert receipt.stored == spool.stored

    @rule(
        number=SPOOL,
        contents=FRAMES,
        statement=st.integers(1, STATEMENTS),
        is_done=st.booleans(),
    )
    def be_killed_while_storing(self, number, contents, statement, is_done):
        """The client does not know whether the batch is stored, but it is stored atomically."""
        spool = self.spools[number]
        spool.contents += contents
        is_known = not self.is_trashed
        try:
            with killed_at(statement, is_done=is_done):
                self.transmit(spool, spool.stored + 1, spool.last)
        except Killed:
            # As in the agent: query the position and continue from there.
            if is_known and self.ask(spool, b"") == ("stored", spool.last):
                self.accept(spool, spool.last)

    @precondition(lambda self: self.is_opened)
    @rule()
    def compact(self):
        run_id = self.run.id
        compact_run(run_id)

        assert not needs_compaction(run_id)
        counts = {row.path: row.count for row in list_attributes(self.run)}
        assert counts == {path: len(points) for path, points in self.model().items()}

    @precondition(lambda self: self.is_opened)
    @rule(statement=st.integers(1, STATEMENTS), is_done=st.booleans())
    def be_killed_while_compacting(self, statement, is_done):
        run_id = self.run.id
        try:
            with killed_at(statement, is_done=is_done):
                compact_run(run_id)
        except Killed:
            pass

    @precondition(lambda self: self.is_opened)
    @rule()
    def trash_or_restore(self):
        run = self.run
        run.trashed_at = None if run.trashed_at else self.now
        run.save(update_fields=["trashed_at"])

    @precondition(lambda self: self.is_opened)
    @rule(days=st.sampled_from([1, 30, 400]), is_emptied=st.booleans())
    def let_retention_look(self, days, is_emptied):
        """Expired runs go to the trash, and are then deleted permanently."""
        run = self.run
        set_retention(run.project, days)
        self.now += timedelta(days=days, minutes=5)
        mark_silent()
        is_expired = expired_runs(run.project, self.now).filter(id=run.id).exists()
        was_trashed = self.is_trashed
        assert move_silent_to_trash() == is_expired
        assert self.is_trashed == (was_trashed or is_expired)
        set_retention(run.project, None)
        if is_emptied:
            self.now += timedelta(days=TRASH_DAYS, minutes=5)
            is_late = self.is_trashed
            assert delete_expired() == is_late
            if is_late:
                self.purge(run.id)

    @precondition(lambda self: self.is_opened)
    @rule()
    def delete(self):
        run = self.run
        if run.trashed_at is None:
            move_to_trash(run)
        delete_for_good(run)
        self.purge(run.id)

    @precondition(lambda self: self.is_opened)
    @rule(statement=st.integers(1, STATEMENTS), is_done=st.booleans())
    def be_killed_while_purging(self, statement, is_done):
        run = self.run
        if run.trashed_at is None:
            move_to_trash(run)
        delete_for_good(run)
        try:
            with killed_at(statement, is_done=is_done):
                purge_run(run.id, seconds=LONG_SECONDS)
        except Killed:
            pass
        self.purge(run.id)

    def purge(self, run_id):
        """Purge completely; no data of the run remains, and its processes start again."""
        assert purge_run(run_id, seconds=LONG_SECONDS).is_done
        assert not Run.objects.filter(id=run_id).exists()
        for table in (JournalEntry, SeriesChunk, SeriesTicks, Rewind, Spool):
            assert not table.objects.filter(run_id=run_id).exists()
        self.parts.clear()
        self.rewinds.clear()
        for spool in self.spools:
            spool.stored = 0

    @rule(seconds=st.sampled_from([-86_400, -1, 0.001, 5, 100, 86_400]))
    def let_the_clock_jump(self, seconds):
        self.now += timedelta(seconds=seconds)
        mark_silent()

    @precondition(lambda self: self.parts)
    @rule(
        data=st.data(),
        low=st.none() | st.floats(-50, 2_000),
        high=st.none() | st.floats(-50, 100_000),
        buckets=st.sampled_from([1, 2, 7, 100, 500]),
    )
    def draw(self, data, low, high, buckets):
        """For any number of buckets, all points are within the drawn range."""
        path = data.draw(st.sampled_from(sorted(self.parts)), label="path")
        line = read_line(self.run, path, low=low, high=high, buckets=buckets)

        points = self.read()[path]
        inside = (points.steps >= (-np.inf if low is None else low)) & (
            points.steps <= (np.inf if high is None else high)
        )
        values = points.values[inside]
        assert line.count == len(values)
        assert (np.diff(line.x) >= 0).all()
        assert len(line.x) <= max(2 * buckets, buckets + 1)
        assert extremes(line.minimum, line.maximum) == extremes(values, values)
        known = ~np.isnan(line.mean)
        assert (line.minimum[known] <= line.mean[known]).all()
        assert (line.mean[known] <= line.maximum[known]).all()

    @invariant()
    def what_is_read_is_what_was_stored(self):
        TRIED["steps"] += 1
        if not self.is_opened:
            return
        model = self.read()
        found = read_many_points(self.run, [*model, "absent"])

        assert len(found.pop("absent")) == 0
        for path, points in found.items():
            assert is_sorted(points)
            assert same_bits(points, model[path])

    def model(self) -> Content:
        """Return all stored points."""
        return {path: concatenate(parts) for path, parts in self.parts.items()}

    def read(self) -> Content:
        """Return the visible points, without those that a later attempt replaced."""
        return {
            path: points[self.is_shown(path, points)]
            for path, points in self.model().items()
        }

    def is_shown(self, path: str, points: Points) -> np.ndarray:
        return np.array(
            [
                all(step < since or time >= begun for since, begun in told)
                for told in [self.rewinds.get(path, [])]
                for step, time in zip(
                    points.steps.tolist(), points.times.tolist(), strict=True
                )
            ],
            bool,
        )


def extremes(lows: np.ndarray, highs: np.ndarray) -> tuple[float, ...]:
    """Return minimum and maximum; empty if all values are NaN."""
    # Not np.nanmin, in which a signaling NaN hides the values before it.
    lows, highs = lows[~np.isnan(lows)], highs[~np.isnan(highs)]
    return (lows.min(), highs.max()) if len(lows) else ()


def is_sorted(points: Points) -> bool:
    """Return whether the points are in order of step, and of time for equal steps."""
    steps, times = np.diff(points.steps), np.diff(points.times)
    return bool(((steps > 0) | ((steps == 0) & (times >= 0))).all())


def same_bits(one: Points, other: Points) -> bool:
    """Return whether both have the same points, for any order of equal steps."""
    first, second = bits_of(one), bits_of(other.sorted_by_step())
    return np.array_equal(first, second) or np.array_equal(
        first[:, np.lexsort(first)], second[:, np.lexsort(second)]
    )


def bits_of(points: Points) -> np.ndarray:
    columns = (points.steps, points.times, points.values)
    return np.stack([np.ascontiguousarray(column).view("<u8") for column in columns])


def test_the_store_holds_what_the_model_holds(capsys):
    TRIED.clear()
    run_state_machine_as_test(
        Store,
        settings=hypothesis.settings(
            max_examples=EXAMPLES, stateful_step_count=STEPS_OF_A_STORY
        ),
    )
    with capsys.disabled():
        database = connection.vendor
        # For the log of a long run.
        sys.stdout.write(
            f"\n{database}: {TRIED['stories']:,} stories, {TRIED['steps']:,} steps\n"
        )
    assert TRIED["stories"] >= EXAMPLES


@pytest.fixture
def spool(member):
    process = Process(make_project(member), "known errors")
    process.open()
    return process


def test_a_signalling_nan_hides_no_value_before_it(spool):
    values = np.array([1.0, 0.0, 2.0])
    values.view("<u8")[1] = 0x7FF0000000000001
    spool.send(messages_of({"x": Points(np.arange(3.0), START + np.arange(3), values)}))
    compact_run(spool.run.id)

    line = read_line(spool.run, "x", buckets=1)

    assert not line.exact
    assert extremes(line.minimum, line.maximum) == (1.0, 2.0)


def test_series_logged_together_out_of_order_are_compacted(spool):
    values = np.array(ODD_BITS[:8], "<u8").view("<f8")
    steps, times = np.array([3.0, 1.0, 2.0, 0.0]), START + np.arange(4)
    content = {
        "a": Points(steps, times, values[:4]),
        "b": Points(steps, times, values[4:]),
    }
    spool.send(messages_of(content))

    compact_run(spool.run.id)

    found = read_many_points(spool.run, ["a", "b"])
    assert all(same_bits(found[path], content[path]) for path in content)


def cut_off(call, statement, *, is_done):
    """Call, and interrupt at a statement; return whether there were that many."""
    try:
        with killed_at(statement, is_done=is_done):
            call()
    except Killed:
        return True
    return False


def every_statement(call_at):
    """Interrupt a call at each of its statements in turn, before it and after it."""
    for statement in count(1):
        for is_done in (False, True):
            if not call_at(statement, is_done):
                return statement
    raise AssertionError("a call has an end")


def test_a_compaction_cut_off_at_any_statement_loses_and_doubles_nothing(spool):
    expected = []

    def compact_at(statement, is_done):
        # New data each time, in two series.
        steps = np.array([len(expected) + 0.5, len(expected)])
        points = Points(steps, START + np.arange(2), steps * np.pi)
        expected.append(points)
        spool.send(messages_of({"a": points, "b": points}))
        run = spool.run
        was_cut = cut_off(lambda: compact_run(run.id), statement, is_done=is_done)
        found = read_many_points(run, ["a", "b"])
        assert all(same_bits(found[path], concatenate(expected)) for path in "ab")
        return was_cut

    assert every_statement(compact_at) > 3
    compact_run(spool.run.id)
    counts = {row.path: row.count for row in list_attributes(spool.run)}
    assert counts == dict.fromkeys("ab", 2 * len(expected))


def test_a_batch_cut_off_at_any_statement_is_stored_as_a_whole_or_not_at_all(spool):
    expected = []

    def store_at(statement, is_done):
        steps = np.array([len(expected) + 0.5, len(expected)])
        points = Points(steps, START + np.arange(2), steps * np.pi)
        messages = messages_of({f"a{len(expected)}": points, "b": points})
        body = frames([messages, messages_of({"c": points})], first=spool.next_number)
        was_cut = cut_off(
            lambda: store_batch(spool.actor, spool.spool_id, body),
            statement,
            is_done=is_done,
        )
        # Sent again, like an agent, until it is acknowledged.
        assert store_batch(spool.actor, spool.spool_id, body).stored == (
            spool.next_number + 1
        )
        spool.next_number += 2
        expected.append(points)
        found = read_many_points(spool.run, ["b", "c"])
        assert all(same_bits(found[path], concatenate(expected)) for path in "bc")
        return was_cut

    assert every_statement(store_at) > 3
