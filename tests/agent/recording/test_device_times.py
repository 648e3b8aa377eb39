from __future__ import annotations

import pytest

import agent
from seamark.recording.device_times import MAX_SPANS, MAX_STEPS_WAITING, DeviceTimes


class Device:
    """Passes events only on request, and never waits."""

    def __init__(self):
        self.milliseconds = 0.0
        self.passed = 0
        self.recorded = 0
        self.queried = 0
        # Numbers of events on a stream that is behind the others.
        self.late = set()

    def mark(self):
        self.recorded += 1
        return DeviceEvent(self)


class DeviceEvent:
    def __init__(self, device):
        self.device = device
        self.number = device.recorded
        self.at = device.milliseconds

    def is_passed(self):
        return self.number <= self.device.passed and self.number not in self.device.late

    def query(self):
        self.device.queried += 1
        return self.is_passed()

    def elapsed_time(self, end):
        assert self.is_passed(), "nothing is read before the device has passed it"
        assert end.is_passed()
        return end.at - self.at


@pytest.fixture
def device():
    return Device()


@pytest.fixture
def times(device):
    return DeviceTimes(device.mark)


def spend(times, device, name, milliseconds):
    span = times.open(name)
    device.milliseconds += milliseconds
    if span is not None:
        times.close(span)


def test_a_step_is_told_once_the_device_has_passed_it(times, device):
    spend(times, device, "forward", 20)
    spend(times, device, "backward", 40)
    times.end_step(7, 123)
    assert list(times.take()) == []

    device.passed = device.recorded
    assert list(times.take()) == [(7, 123, {"forward": 0.02, "backward": 0.04})]
    assert list(times.take()) == []


def test_phases_within_phases_count_once_and_equal_names_are_summed(times, device):
    outer = times.open("outer")
    spend(times, device, "inner", 10)
    spend(times, device, "inner", 10)
    device.milliseconds += 5
    times.close(outer)
    times.end_step(0, 0)
    device.passed = device.recorded

    [(_, _, seconds)] = times.take()
    assert seconds == pytest.approx({"inner": 0.02, "outer": 0.005})


def test_a_device_that_is_far_behind_costs_little_memory(times, device):
    for step in range(MAX_STEPS_WAITING + 10):
        spend(times, device, "forward", 1)
        times.end_step(step, 0)
    device.passed = device.recorded

    steps = [step for step, _, _ in times.take()]
    assert steps == list(range(10, MAX_STEPS_WAITING + 10))


def test_a_step_that_goes_on_for_ever_costs_little_memory(times, device):
    for _ in range(100_000):
        spend(times, device, "forward", 1)
        assert len(times._spans) <= MAX_SPANS
    times.end_step(0, 0)
    spend(times, device, "forward", 20)
    times.end_step(1, 0)

    assert device.recorded == 2 * MAX_SPANS + 2
    device.passed = device.recorded
    # The first step has no complete measurement and is left out.
    assert list(times.take()) == [(1, 0, {"forward": 0.02})]


def test_a_step_of_many_phases_asks_the_device_little(times, device):
    for _ in range(1_000):
        spend(times, device, "forward", 1)
    times.end_step(0, 0)

    device.passed = device.recorded - 1
    for _ in range(10):
        assert list(times.take()) == []
    assert device.queried == 10

    device.passed = device.recorded
    assert len(list(times.take())) == 1
    assert device.queried == 10 + 1_000


def test_what_is_on_a_stream_that_is_behind_is_waited_for(times, device):
    for _ in range(3):
        spend(times, device, "forward", 10)
    times.end_step(0, 0)
    device.passed = device.recorded
    device.late.add(2)
    assert list(times.take()) == []

    device.late.clear()
    [(_, _, seconds)] = times.take()
    assert seconds == pytest.approx({"forward": 0.03})


def test_a_phase_that_ends_after_its_step_costs_no_event(times, device):
    span = times.open("forward")
    times.end_step(0, 0)
    times.close(span)
    assert device.recorded == 1

    spend(times, device, "backward", 10)
    times.end_step(1, 0)
    device.passed = device.recorded
    assert list(times.take()) == [(1, 0, {"backward": 0.01})]


def test_where_nothing_may_be_recorded_nothing_is(device):
    times = DeviceTimes(lambda: None)

    assert times.open("forward") is None
    times.end_step(0, 0)
    assert list(times.take()) == []


def test_a_step_that_never_ended_is_not_told(times, device):
    spend(times, device, "forward", 1)
    times.forget_step()
    times.end_step(0, 0)
    device.passed = device.recorded

    assert list(times.take()) == []


class Framework:
    """The loop's interface to PyTorch, with a fake device."""

    def __init__(self, device):
        self.device = device
        self.times = DeviceTimes(device.mark)

    def facts(self):
        return {"torch/version": "0"}

    def autocast_facts(self):
        return {}

    def device_times(self):
        return self.times


def train(run, device, steps):
    for _ in run.loader(range(steps)):
        with run.phase("forward"):
            device.milliseconds += 20
        device.passed = max(0, device.recorded - 2)


def test_phases_of_a_loop_are_logged_with_their_steps(tracker, device):
    run = agent.init("r", stage="train", monitor=False)
    run.steps._torch = Framework(device)
    train(run, device, 4)
    # The last step is reported once the device has reached it.
    device.passed = device.recorded
    train(run, device, 1)
    run.finish()

    path = "monitoring/train/step/device/forward_seconds"
    assert tracker.steps(path)[:4] == [0, 1, 2, 3]
    assert set(tracker.values(path)) == {0.02}


def test_a_device_that_fails_is_asked_no_more_and_training_goes_on(tracker, device):
    class Broken(Framework):
        def device_times(self):
            def fail():
                raise RuntimeError("an illegal memory access was encountered")

            return DeviceTimes(fail)

    run = agent.init("r", stage="train", monitor=False)
    run.steps._torch = Broken(device)
    train(run, device, 3)
    run.finish()

    assert len(tracker.values("monitoring/train/step/seconds")) == 3
    assert len(tracker.values("monitoring/train/step/phase/forward_seconds")) == 3


def test_a_fact_that_cannot_be_read_takes_no_times_along(tracker, device):
    class Unreadable(Framework):
        def autocast_facts(self):
            raise TypeError("is_autocast_enabled() takes no arguments (1 given)")

    run = agent.init("r", stage="train", monitor=False)
    run.steps._torch = Unreadable(device)
    train(run, device, 4)
    run.finish()

    steps = tracker.steps("monitoring/train/step/device/forward_seconds")
    assert steps[:3] == [0, 1, 2]


def test_a_forked_child_leaves_the_device_alone(tracker, device):
    run = agent.init("r", stage="train", monitor=False)
    run.steps._torch = Framework(device)
    run.steps.begin()
    recorded = device.recorded
    run.start_anew_in_child()
    with run.phase("forward"):
        pass

    assert device.recorded == recorded
