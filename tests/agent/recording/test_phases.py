from __future__ import annotations

import asyncio
import threading
import time

import pytest

import agent
from seamark.recording.phases import MAX_PARTS

STEP = "monitoring/serve/step"


@pytest.fixture
def run(tracker):
    return agent.init("r", stage="serve", monitor=False)


def spend(run, name: str, seconds: float = 0.0) -> None:
    with run.phase(name):
        time.sleep(seconds)


def test_what_phases_took_within_another_is_logged_with_it(tracker, run):
    spend(run, "load_model", 0.01)
    for _ in range(2):
        with run.phase("request"):
            spend(run, "load_model", 0.05)
            spend(run, "load_model", 0.05)
    run.finish()

    held = tracker.values(f"{STEP}/nested/request/load_model_seconds")
    assert len(held) == 2
    assert min(held) >= 0.1
    assert tracker.steps(f"{STEP}/nested/request/load_model_seconds") == [0, 1]
    # Each by itself, as ever.
    assert len(tracker.values(f"{STEP}/phase/load_model_seconds")) == 5
    assert min(tracker.values(f"{STEP}/phase/request_seconds")) < 0.1


def test_phases_without_others_in_them_log_nothing_more(tracker, run):
    spend(run, "request")
    for _ in run.loader([0]):
        spend(run, "forward")
    run.finish()

    assert not [path for path in tracker.paths() if "/nested/" in path]


def test_parts_count_for_all_phases_around_them(tracker, run):
    with run.phase("request"), run.phase("compute"):
        spend(run, "decode", 0.02)
    run.finish()

    (in_request,) = tracker.values(f"{STEP}/nested/request/decode_seconds")
    (in_compute,) = tracker.values(f"{STEP}/nested/compute/decode_seconds")
    (compute,) = tracker.values(f"{STEP}/nested/request/compute_seconds")
    assert in_request == in_compute >= 0.02
    assert compute < 0.02


def test_parts_are_summed_over_a_step(tracker, run):
    for _ in run.loader([0, 1]):
        for _ in range(2):
            with run.phase("forward"):
                spend(run, "attention", 0.01)
    run.finish()

    parts = tracker.values(f"{STEP}/nested/forward/attention_seconds")
    assert len(parts) == 2
    assert min(parts) >= 0.02
    assert tracker.steps(f"{STEP}/nested/forward/attention_seconds") == [0, 1]


def test_a_phase_around_a_loop_tells_its_parts_once(tracker, run):
    with run.phase("fit"):
        for _ in run.loader([0, 1, 2]):
            spend(run, "forward", 0.01)
    run.finish()

    (forward,) = tracker.values(f"{STEP}/nested/fit/forward_seconds")
    assert forward >= 0.03
    assert len(tracker.values(f"{STEP}/phase/forward_seconds")) == 3


def test_coroutines_nest_each_for_itself(tracker, run):
    async def answer(seconds: float) -> None:
        with run.phase("request"):
            with run.phase("compute"):
                await asyncio.sleep(seconds)
            await asyncio.sleep(0.02)

    async def serve() -> None:
        await asyncio.gather(answer(0.02), answer(0.05), answer(0.08))

    asyncio.run(serve())
    run.finish()

    assert min(tracker.values(f"{STEP}/phase/request_seconds")) >= 0.02
    # In the order in which they ended.
    computed = tracker.values(f"{STEP}/nested/request/compute_seconds")
    assert computed == tracker.values(f"{STEP}/phase/compute_seconds")
    assert f"{STEP}/nested/request/request_seconds" not in tracker.paths()


def test_threads_nest_each_for_itself(tracker, run):
    with run.phase("request"):
        other = threading.Thread(target=spend, args=(run, "prefetch", 0.01))
        other.start()
        other.join()
    run.finish()

    assert f"{STEP}/nested/request/prefetch_seconds" not in tracker.paths()


def test_phases_that_end_in_another_order_than_they_began_are_left_behind(tracker, run):
    outer, inner = run.phase("outer"), run.phase("inner")
    outer.__enter__()
    inner.__enter__()
    outer.__exit__(None, None, None)
    inner.__exit__(None, None, None)
    spend(run, "after")
    run.finish()

    assert not [path for path in tracker.paths() if "/nested/" in path]


def test_a_phase_that_is_used_again_out_of_order_leads_in_no_circle(tracker, run):
    one, other = run.phase("one"), run.phase("other")
    one.__enter__()
    other.__enter__()
    one.__exit__(None, None, None)
    one.__enter__()
    other.__exit__(None, None, None)
    one.__exit__(None, None, None)
    spend(run, "after")
    run.finish()

    assert len(tracker.values(f"{STEP}/phase/one_seconds")) == 2
    assert len(tracker.values(f"{STEP}/phase/after_seconds")) == 1


def test_a_name_that_cannot_be_sent_takes_no_step_along(tracker, run):
    for _ in run.loader([0]):
        spend(run, "a\udce9")
        spend(run, "Größe")
    run.finish()

    assert len(tracker.values(f"{STEP}/seconds")) == 1
    assert len(tracker.values(f"{STEP}/phase/a?_seconds")) == 1
    assert len(tracker.values(f"{STEP}/phase/Größe_seconds")) == 1


def test_a_phase_that_is_left_without_being_entered_is_none(tracker, run):
    run.phase("request").__exit__(None, None, None)
    run.finish()

    assert tracker.paths() == set()


def test_a_phase_that_is_entered_twice_counts_once(tracker, run):
    phase = run.phase("request")
    phase.__enter__()
    with phase:
        spend(run, "compute", 0.01)
    phase.__exit__(None, None, None)
    spend(run, "after")
    run.finish()

    assert len(tracker.values(f"{STEP}/phase/request_seconds")) == 1
    assert f"{STEP}/nested/request/after_seconds" not in tracker.paths()


def test_phases_of_two_runs_do_not_mix(tracker, run):
    other = agent.init("other", stage="serve", monitor=False)
    with run.phase("request"):
        spend(other, "compute", 0.01)
    run.finish()
    other.finish()

    assert not [path for path in tracker.paths() if "/nested/" in path]


def test_names_that_are_made_up_each_time_are_not_all_told_apart(tracker, run):
    with run.phase("fit"):
        for number in range(MAX_PARTS + 10):
            spend(run, f"file {number}")
        spend(run, "x" * 500)
    run.finish()

    nested = [path for path in tracker.paths() if "/nested/" in path]
    assert len(nested) == MAX_PARTS
