"""A thread runs at its times or when woken, and ends on request."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

import agent
from seamark.lifecycle import background as module
from seamark.lifecycle.background import Background
from seamark.user_warnings import Notices
from tests.agent.conftest import wait_until

FOR_EVER = 86_400.0


def started(turn):
    background = Background("seamark-test", turn)
    background.ensure()
    return background


def test_calls_that_come_together_are_answered_by_one_turn():
    turns = []
    may_go_on = threading.Event()

    def turn():
        turns.append(time.monotonic())
        may_go_on.wait(10)
        return FOR_EVER

    background = started(turn)
    wait_until(lambda: turns)
    for _ in range(1_000):
        background.wake()
    may_go_on.set()
    wait_until(lambda: len(turns) == 2)

    time.sleep(0.05)
    assert len(turns) == 2
    assert background.stop(5.0)
    assert len(turns) == 3  # the last one


def test_a_turn_that_is_overdue_comes_at_once():
    turns = []

    def turn():
        turns.append(1)
        return -1.0 if len(turns) < 5 else FOR_EVER

    background = started(turn)

    wait_until(lambda: len(turns) == 5)
    assert background.stop(5.0)


def test_one_that_is_told_to_end_before_its_first_turn_takes_it_as_its_last():
    turns = []
    background = started(lambda: turns.append(1) or FOR_EVER)

    assert background.stop(5.0)
    assert turns == [1]


@pytest.mark.parametrize("error", [SystemExit, KeyboardInterrupt, GeneratorExit])
def test_a_thread_goes_on_after_what_ends_threads_and_says_so(
    error, monkeypatch, caplog
):
    monkeypatch.setattr(module, "_RESTART_SECONDS", 0.05)
    turns = []

    def turn():
        turns.append(threading.current_thread())
        if len(turns) < 4:
            raise error("injected")
        return FOR_EVER

    background = started(turn)

    wait_until(lambda: len(turns) == 4)
    assert len(set(turns)) == 1
    assert background.is_alive
    assert [r.levelname for r in caplog.records].count("WARNING") == 1
    assert "the thread seamark-test died and is restarted" in caplog.text
    assert background.stop(5.0)


def test_one_that_ends_at_every_call_takes_no_more_turns_for_that():
    turns = []

    def turn():
        turns.append(1)
        raise SystemExit

    background = started(turn)
    end = time.monotonic() + 0.5
    while time.monotonic() < end:
        background.wake()
        time.sleep(0.001)

    assert len(turns) == 1
    assert background.stop(5.0)
    assert len(turns) == 2


def test_one_that_dies_again_and_again_rests_longer_each_time(monkeypatch):
    now, rests = [0.0], []
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])

    def wait(seconds):
        rests.append(seconds)
        now[0] += seconds
        background._stopping = len(rests) == 17

    def die():
        raise SystemExit

    background = Background("seamark-test", die)
    monkeypatch.setattr(background, "_wait", wait)
    monkeypatch.setattr(module, "_FIRST_SECONDS", 0.0)
    background._live()

    assert [seconds for seconds in rests if seconds] == [1, 2, 4, 8, 16, 32, 60, 60]


def test_one_goes_on_though_its_end_cannot_be_told(monkeypatch):
    monkeypatch.setattr(module, "_RESTART_SECONDS", 0.05)
    turns = []

    def turn():
        turns.append(1)
        if len(turns) == 1:
            raise SystemExit
        return FOR_EVER

    def fail(*_):
        raise MemoryError

    monkeypatch.setattr(module.logger, "log", fail)
    background = started(turn)

    wait_until(lambda: len(turns) == 2)
    assert background.stop(5.0)


class Limit:
    """Limit of new threads: none, or unlimited."""

    def __init__(self) -> None:
        self.is_reached = False
        self.error: BaseException = RuntimeError("can't start new thread")
        self.refused = 0
        self._start = threading.Thread.start

    def start(self, thread):
        if self.is_reached and thread.name.startswith("seamark"):
            self.refused += 1
            raise self.error
        self._start(thread)

    @contextmanager
    def reached(self) -> Iterator[None]:
        self.is_reached = True
        try:
            yield
        finally:
            self.is_reached = False


@pytest.fixture
def limit(monkeypatch):
    made = Limit()

    def start(thread):
        made.start(thread)

    monkeypatch.setattr(threading.Thread, "start", start)
    # Repeat notices that other tests have logged.
    monkeypatch.setattr(module, "_notices", Notices())
    monkeypatch.setattr(module, "_RESTART_SECONDS", 0.05)
    return made


@pytest.mark.parametrize("has_ring", [True, False])
def test_points_arrive_once_a_thread_can_be_started(
    limit, tracker, monkeypatch, caplog, has_ring
):
    if not has_ring:
        monkeypatch.setattr("seamark.lifecycle.opening.create_ring", lambda _: None)
    # Threads of other tests may still be ending.
    before = set(threading.enumerate())
    with limit.reached():
        run = agent.init("r", monitor=False)
        for _ in range(50):
            run["a"].append(1.0)
            time.sleep(0.005)
        assert not own_threads(before)
        assert tracker.requests == []
    run["a"].append(1.0)
    time.sleep(0.1)
    run["a"].append(1.0)

    wait_until(lambda: len(tracker.values("a")) == 52)
    assert caplog.text.count("cannot start a thread (can't start new thread)") == 1
    # Rows no longer call the writer one by one.
    assert run._session.ring is None or run._session.ring._call_at > 0
    run.finish()


def own_threads(before):
    names = [thread.name for thread in set(threading.enumerate()) - before]
    return [name for name in names if name.startswith("seamark")]


def test_what_is_logged_asks_for_a_thread_no_more_often_than_one_is_tried(
    limit, tracker, monkeypatch
):
    monkeypatch.setattr(module, "_RESTART_SECONDS", 3600.0)
    with limit.reached():
        run = agent.init("r", monitor=False)
        at_first = limit.refused
        for _ in range(1000):
            run["a"].append(1.0)
        assert limit.refused == at_first
        run.finish(timeout=0)


def test_a_file_is_copied_once_a_thread_can_be_started(limit, tracker):
    run = agent.init("r", monitor=False)
    with limit.reached():
        run["a"].upload(b"a")
        assert not run._session.files.is_done

    wait_until(lambda: tracker.of_kind("file"))
    run.finish()


@pytest.mark.parametrize(
    "error", [RuntimeError("can't start new thread"), MemoryError()]
)
def test_a_thread_that_cannot_be_started_is_tried_again(limit, error, caplog):
    limit.error = error
    turns = []
    background = Background("seamark-test", lambda: turns.append(1) or FOR_EVER)
    with limit.reached():
        for _ in range(3):
            background.ensure()
            time.sleep(0.06)
    assert limit.refused == 3
    assert caplog.text.count("cannot start a thread") == 1

    background.ensure()
    assert background.stop(5.0)
    assert turns


def test_the_end_of_the_interpreter_is_no_limit(limit, caplog):
    limit.error = RuntimeError("can't create new thread at interpreter shutdown")
    background = Background("seamark-test", lambda: FOR_EVER)

    with limit.reached():
        background.ensure()

    assert not background.is_alive
    assert "thread" not in caplog.text
