"""On which of several GPUs loops and trials measure, with a double of PyTorch."""

from __future__ import annotations

import gc
import sys
from functools import partial
from types import SimpleNamespace
from weakref import WeakSet

import pytest

import agent
from seamark.trials import device
from tests.agent.torch_double import CudaDouble, EventDouble, TorchDouble

FORWARD = "monitoring/train/step/device/forward_seconds"
ASK_TORCH = ("seamark.frameworks.torch_loop", "seamark.frameworks.torch_memory")


@pytest.fixture
def use(monkeypatch):
    """Have the script use these GPUs."""

    def use(cuda, **more):
        monkeypatch.setitem(sys.modules, "torch", TorchDouble(cuda, **more))
        return cuda

    for module in ASK_TORCH:
        sys.modules.pop(module, None)
    yield use
    for module in ASK_TORCH:
        sys.modules.pop(module, None)


@pytest.fixture
def run(tracker):
    return agent.init("r", stage="train", monitor=False)


def train(run, cuda, *, steps=2):
    """Each step works for 20 ms on every GPU that has tensors."""
    for _ in run.loader(range(steps)):
        with run.phase("forward"):
            for number, size in cuda.allocated.items():
                cuda.milliseconds[number] += 20 if size else 0


def test_phases_are_timed_on_the_gpu_that_has_the_tensors(tracker, run, use):
    cuda = use(CudaDouble({0: 0, 1: 70}))
    # Memory was used briefly, as when CUDA initializes.
    cuda.reserved[0] = 2
    train(run, cuda)
    run.finish()

    assert set(cuda.recorded) == {1}
    assert tracker.values(FORWARD) == [0.02, 0.02]


@pytest.mark.parametrize(("current", "expected"), [(1, {1}), (2, set())])
def test_of_several_with_tensors_the_current_one_is_timed(run, use, current, expected):
    cuda = use(CudaDouble({0: 70, 1: 70, 2: 0}, current=current))
    train(run, cuda)

    assert set(cuda.recorded) == expected


def test_nothing_is_recorded_where_the_script_has_nothing_on_a_gpu(tracker, run, use):
    cuda = use(CudaDouble({0: 0, 1: 0}))
    train(run, cuda)
    run.finish()

    assert cuda.recorded == []
    assert len(tracker.values("monitoring/train/step/seconds")) == 2


def test_each_loop_finds_its_own_gpu_and_asks_once(run, use):
    cuda = use(CudaDouble({0: 0, 1: 70}))
    asked = []
    cuda.memory_stats_as_nested_dict = lambda number: (
        asked.append(number) or CudaDouble.memory_stats_as_nested_dict(cuda, number)
    )
    train(run, cuda, steps=10)
    cuda.allocated = {0: 70, 1: 0}
    cuda.recorded.clear()
    train(run, cuda, steps=10)

    assert set(cuda.recorded) == {0}
    assert asked == [0, 1, 0, 1]


def test_a_later_loop_may_touch_its_gpu_in_its_first_step(tracker, run, use):
    cuda = use(CudaDouble({0: 70}))
    train(run, cuda, steps=5)
    cuda.allocated[0] = 0

    for _ in run.loader(range(3)):
        cuda.allocated[0] = 70
        with run.phase("forward"):
            cuda.milliseconds[0] += 20
    run.finish()

    # Not that step: before it the GPU was unused.
    assert len(tracker.values(FORWARD)) == 5 + 2


@pytest.fixture
def pending(use):
    """The events of a GPU that never passes them, until they are destroyed."""
    events = WeakSet()

    class Event(EventDouble):
        def __init__(self, *arguments, **options):
            super().__init__(*arguments, **options)
            events.add(self)

        def query(self):
            return False

    cuda = use(CudaDouble({0: 70}))
    cuda.Event = partial(Event, cuda)
    return events


def test_a_forked_child_destroys_no_event_of_its_parent(run, pending):
    for number in run.loader(range(3)):
        with run.phase("forward"):
            if number == 1:
                count = len(pending)
                run.steps.start_anew_in_child()
    gc.collect()

    assert count == 3
    assert len(pending) == count


def test_the_end_of_a_run_destroys_its_events_without_the_garbage_collector(
    run, pending
):
    gc.disable()
    try:
        for _ in run.loader(range(3)):
            with run.phase("forward"):
                pass
        assert len(pending) == 6
        run.finish()
        assert len(pending) == 0
    finally:
        gc.enable()


def test_an_allocator_without_books_is_believed_to_serve_the_current_gpu(run, use):
    cuda = use(CudaDouble({0: 70, 1: 70}, current=1))
    cuda.memory_stats_as_nested_dict = lambda _: 1 / 0
    train(run, cuda)

    assert set(cuda.recorded) == {1}


def test_autocast_is_known_from_an_older_pytorch(tracker, run, use):
    cuda = use(
        CudaDouble({0: 70}),
        # Without arguments, as before PyTorch 2.4.
        is_autocast_enabled=lambda: True,
        get_autocast_gpu_dtype=lambda: "torch.float16",
    )
    train(run, cuda)
    run.finish()

    assert tracker.attributes()["monitoring/train/facts/torch/autocast"] == "float16"


def test_memory_that_an_older_pytorch_refuses_is_examined(tracker, use):
    refusal = type("OutOfMemoryError", (RuntimeError,), {})
    cuda = use(CudaDouble({0: 0, 1: 70}))
    cuda.OutOfMemoryError = refusal

    from seamark.frameworks.torch_memory import is_out_of_memory

    assert is_out_of_memory(refusal("CUDA out of memory."))
    assert not is_out_of_memory(RuntimeError("shapes differ"))


def test_trials_wait_for_every_gpu_that_holds_memory(use):
    cuda = use(CudaDouble({0: 0, 1: 70, 2: 0}))
    # The step has let go of its tensors, perhaps before they were computed.
    cuda.reserved[2] = 70
    device.wait_for_device(None)

    assert cuda.synchronized == [1, 2]


def test_the_memory_of_a_trial_is_that_of_its_gpu(use):
    cuda = use(CudaDouble({0: 0, 1: 70}))
    device.reset_peak()

    assert cuda.forgotten == [1]
    assert device.peak_bytes() == 70
    assert device.capacity_bytes() == 2000


def test_the_memory_of_a_trial_is_unknown_where_nobody_knows_its_gpu(use):
    use(CudaDouble({0: 70, 1: 70, 2: 0}, current=2))

    assert device.peak_bytes() is None
    assert device.capacity_bytes() is None


def test_trials_wait_for_gpus_of_other_makers(use):
    class Mps:
        waited = 0

        def current_allocated_memory(self):
            return 70

        def synchronize(self):
            self.waited += 1

    class Absent(CudaDouble):
        def is_initialized(self):
            return False

    xpu, mps = CudaDouble({0: 70}), Mps()
    cuda = use(
        Absent({0: 70}),
        xpu=xpu,
        mps=mps,
        backends=SimpleNamespace(mps=SimpleNamespace(is_available=lambda: False)),
    )
    device.wait_for_device(None)
    assert (xpu.synchronized, mps.waited, cuda.synchronized) == ([0], 0, [])

    sys.modules["torch"].backends.mps.is_available = lambda: True
    device.wait_for_device(None)
    assert (xpu.synchronized, mps.waited) == ([0, 0], 1)
