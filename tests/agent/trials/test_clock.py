from __future__ import annotations

import time

import pytest

from seamark.trials.clock import MAX_SECONDS, Deadline, time_calls, time_passage


def nothing(_result):
    pass


def slow_batches(count, seconds):
    for number in range(count):
        time.sleep(seconds)
        yield number


def test_nothing_takes_longer_than_a_minute():
    assert Deadline(3600).seconds == MAX_SECONDS == 60.0
    assert Deadline(-1).left == 0


def test_calls_are_timed_without_the_first_ones():
    calls = []

    def call():
        time.sleep(0.5 if not calls else 0.01)
        calls.append(1)

    pace = time_calls(call, nothing, Deadline(3))

    assert 0.01 <= pace.seconds < 0.4
    assert pace.count < len(calls)


def test_a_call_that_outlasts_the_deadline_counts_once():
    began = time.perf_counter()
    pace = time_calls(lambda: time.sleep(0.3), nothing, Deadline(0.01))

    assert pace.count == 1
    assert pace.seconds >= 0.3
    assert time.perf_counter() - began < 10


def test_what_a_device_still_does_is_waited_for():
    began = []

    pace = time_calls(
        lambda: began.append(1), lambda _result: time.sleep(0.05), Deadline(0.2)
    )

    assert pace.seconds * pace.count >= 0.05


def test_batches_that_were_ready_do_not_count():
    def batches():
        yield from range(4)
        yield from slow_batches(8, 0.02)

    passage = time_passage(batches(), Deadline(20), ready=4)

    assert passage.count == 12
    assert passage.pace.count == 8
    assert passage.pace.seconds >= 0.02


@pytest.mark.parametrize("count", [0, 1, 3])
def test_few_batches_have_no_pace(count):
    passage = time_passage(slow_batches(count, 0.0), Deadline(20), ready=2)

    assert passage.count == count
    assert passage.pace is None


def test_it_ends_at_the_deadline_and_at_the_most():
    endless = iter(lambda: time.sleep(0.01), "never")

    assert time_passage(endless, Deadline(0.1), ready=1).count < 100
    assert time_passage(endless, Deadline(20), ready=1, most=5).count == 5
