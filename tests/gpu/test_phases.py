"""Phases on a real GPU: GPU times are correct, and the script does not wait for them."""

from __future__ import annotations

import gc
import time
from statistics import median

import psutil
import pytest

import agent
from seamark.recording.device_times import MAX_STEPS_WAITING
from tests.gpu.card import DEVICE, torch
from tests.gpu.workloads import Stopwatch, occupy

STEP = "monitoring/train/step"


@pytest.fixture(autouse=True)
def on_the_card():
    """A tensor that selects the GPU, and a kernel with known speed."""
    kept = torch.ones(1, device=DEVICE)
    occupy(1)
    torch.cuda.synchronize()
    return kept


def loop(run, step, steps=8):
    """Run a loop; the GPU finishes all work before the last step ends."""
    for number in run.loader(range(steps)):
        step(number)
        if number == steps - 1:
            torch.cuda.synchronize()


def near(seconds):
    # In addition to 20 %: the time between two consecutive events.
    return pytest.approx(seconds, rel=0.2, abs=0.0005)


def test_a_phase_takes_on_the_gpu_what_its_kernels_take(tracker, run):
    watches = [Stopwatch() for _ in range(8)]

    def step(number):
        with run.phase("work"), watches[number]:
            occupy(20)

    loop(run, step)
    run.finish()

    measured = [watch.seconds for watch in watches]
    assert min(measured) > 0.01
    assert tracker.values(f"{STEP}/device/work_seconds") == near(measured)
    # The script has only launched the kernel.
    assert median(tracker.values(f"{STEP}/phase/work_seconds")) < 0.005


def test_a_phase_within_another_is_taken_off_it(tracker, run):
    def step(number):
        with run.phase("outer"):
            occupy(10)
            with run.phase("inner"):
                occupy(20)

    loop(run, step, steps=4)
    run.finish()

    outer = median(tracker.values(f"{STEP}/device/outer_seconds"))
    inner = median(tracker.values(f"{STEP}/device/inner_seconds"))
    assert inner == pytest.approx(2 * outer, rel=0.2)


def test_a_hundred_launches_in_a_phase_return_at_once(tracker, run):
    def step(number):
        with run.phase("many"):
            for _ in range(100):
                occupy(5)

    loop(run, step, steps=2)
    run.finish()

    assert min(tracker.values(f"{STEP}/phase/many_seconds")) < 0.1
    assert min(tracker.values(f"{STEP}/device/many_seconds")) > 0.3


def test_a_loop_runs_ahead_of_the_gpu(run):
    watch = Stopwatch()
    began = time.perf_counter()
    with watch:
        for _ in run.loader(range(60)):
            with run.phase("forward"):
                occupy(5)
            with run.phase("backward"):
                occupy(5)
    seconds = time.perf_counter() - began
    was_passed = watch.is_passed

    # All kernels are launched long before they end.
    assert not was_passed
    assert seconds < watch.seconds / 2


def test_a_loop_takes_hardly_longer_with_its_phases_timed(tracker, tell):
    def train(run, steps=300):
        values = torch.ones(1000, 1000, device=DEVICE)
        torch.cuda.synchronize()
        began = time.perf_counter()
        for _ in run.loader(range(steps)):
            for name in ("forward", "backward"):
                with run.phase(name):
                    for _ in range(10):
                        values = values * 1.0001
            occupy(1)
        torch.cuda.synchronize()
        return (time.perf_counter() - began) / steps

    off = agent.init("off", mode="disabled")
    on = agent.init("on", project="p", stage="train", monitor=False)
    for run in (off, on):
        train(run, steps=20)
    without, timed = zip(*((train(off), train(on)) for _ in range(3)), strict=True)
    on.finish()

    tell(
        f"a step of {1000 * median(without):.2f} ms on a GPU takes"
        f" {1000 * median(timed):.2f} ms with two phases that are timed"
    )
    assert min(timed) < 1.1 * min(without) + 0.0003


def test_a_phase_is_timed_on_the_stream_that_is_current(tracker, run):
    side = torch.cuda.Stream(DEVICE)
    watches = [Stopwatch() for _ in range(4)]

    def step(number):
        with torch.cuda.stream(side), run.phase("side"), watches[number]:
            occupy(20)
        # The streams do not wait for each other.
        with run.phase("main"):
            occupy(2)
        torch.cuda.synchronize()

    loop(run, step, steps=4)
    run.finish()

    measured = [watch.seconds for watch in watches]
    assert tracker.values(f"{STEP}/device/side_seconds") == near(measured)
    main = median(tracker.values(f"{STEP}/device/main_seconds"))
    assert main < median(measured) / 2


def test_work_of_autocast_is_said_to_be_so(tracker, run):
    model = torch.nn.Linear(64, 64, device=DEVICE)
    inputs = torch.ones(8, 64, device=DEVICE)

    def step(number):
        with torch.autocast("cuda", dtype=torch.bfloat16), run.phase("forward"):
            assert model(inputs).dtype is torch.bfloat16

    loop(run, step, steps=2)
    run.finish()

    facts = tracker.attributes()
    place = "monitoring/train/facts/torch"
    assert facts[f"{place}/autocast"] == "bfloat16"
    assert facts[f"{place}/cuda"] == torch.version.cuda
    assert facts[f"{place}/device_count"] == torch.cuda.device_count()
    assert facts[f"{place}/cudnn"] == torch.backends.cudnn.version()


def events():
    gc.collect()
    return sum(issubclass(type(o), torch.cuda.Event) for o in gc.get_objects())


def test_many_steps_leave_no_events_and_no_memory_behind(run):
    def train(steps):
        values = torch.ones(1000, device=DEVICE)
        for number in run.loader(range(steps)):
            with run.phase("forward"):
                values += 1
            with run.phase("backward"):
                values -= 1
            if number % 50 == 49:
                torch.cuda.synchronize()

    def taken():
        return psutil.Process().memory_info().rss, torch.cuda.mem_get_info(DEVICE)[0]

    train(1000)
    (memory, free), before = taken(), events()
    train(3000)
    (memory_after, free_after), after = taken(), events()

    # GPU times of steps that were still pending when the loop ended.
    assert after <= before + 4 * MAX_STEPS_WAITING
    assert memory_after - memory < 16 * 2**20
    assert free - free_after < 32 * 2**20


def test_a_gpu_that_is_far_behind_keeps_no_more_than_some_steps(run):
    before = events()
    for _ in run.loader(range(200)):
        with run.phase("work"):
            occupy(2)
    left = events() - before

    assert MAX_STEPS_WAITING < left <= 2 * MAX_STEPS_WAITING + 2
