from __future__ import annotations

import copy
import itertools
import threading
import time

import numpy as np
import pytest

import agent
from seamark.recording.loader import count_examples
from seamark.recording.steps import StepClock


@pytest.fixture
def run(tracker):
    return agent.init("r", stage="train", monitor=False)


class SlowBatches:
    """Takes some time per batch, and has the attributes of a DataLoader."""

    batch_size = 4
    num_workers = 2

    def __len__(self):
        return 3

    def __iter__(self):
        for _ in range(3):
            time.sleep(0.03)
            yield np.zeros((4, 8))


def test_each_step_says_how_long_it_waited(tracker, run):
    for _ in run.loader(SlowBatches()):
        time.sleep(0.02)
    run.finish()

    waits = tracker.values("monitoring/train/step/data_wait_seconds")
    seconds = tracker.values("monitoring/train/step/seconds")
    assert len(waits) == len(seconds) == 3
    # No wait is recorded after the last batch.
    assert min(waits[:2]) >= 0.03
    assert waits[2] < 0.03
    assert min(seconds[:2]) >= 0.05
    assert tracker.values("monitoring/train/step/examples") == [4, 4, 4]


def test_the_loader_says_its_facts(tracker, run):
    loader = run.loader(SlowBatches())
    list(loader)
    run.finish()

    facts = tracker.attributes()
    assert len(loader) == 3
    assert facts["monitoring/train/facts/batch_size"] == 4
    assert facts["monitoring/train/facts/loader_workers"] == 2
    assert facts["monitoring/train/facts/framework"] == "plain"


class WithSampler(list):
    """Attributes that scripts read from a loader, besides its batches."""

    epoch = None
    dataset = "cats"

    def set_epoch(self, epoch):
        self.epoch = epoch


def test_what_is_handed_on_from_has_all_that_it_had(run):
    batches = WithSampler([1, 2])
    loader = run.loader(batches)

    loader.set_epoch(3)

    assert (loader.dataset, batches.epoch) == ("cats", 3)
    assert list(copy.copy(loader)) == [1, 2]
    with pytest.raises(AttributeError):
        _ = loader.sampler


def test_what_the_loader_does_not_say_is_absent(tracker, run):
    list(run.loader([1, 2]))
    run.finish()

    assert set(tracker.attributes()) == {"monitoring/train/facts/framework"}


def test_phases_are_summed_within_a_step_and_nested_ones_count_once(tracker, run):
    for _ in run.loader([0, 1]):
        for _ in range(2):
            with run.phase("outer"):
                time.sleep(0.01)
                with run.phase("inner"):
                    time.sleep(0.02)
    run.finish()

    outer = tracker.values("monitoring/train/step/phase/outer_seconds")
    inner = tracker.values("monitoring/train/step/phase/inner_seconds")
    seconds = tracker.values("monitoring/train/step/seconds")
    assert min(outer) >= 0.02
    assert min(inner) >= 0.04
    assert all(o + i <= s for o, i, s in zip(outer, inner, seconds, strict=True))


def test_steps_go_on_counting_in_the_next_epoch(tracker, run):
    for _ in range(2):
        for _ in run.loader([0, 1]):
            continue
    run.finish()

    assert tracker.steps("monitoring/train/step/seconds") == [0, 1, 2, 3]


def test_a_loop_within_a_step_is_part_of_it(tracker, run):
    for _ in run.loader([0]):
        assert list(run.loader([1, 2, 3])) == [1, 2, 3]
    run.finish()

    assert len(tracker.values("monitoring/train/step/seconds")) == 1


def test_a_loop_that_is_left_early_can_be_followed_by_another(tracker, run):
    for _ in run.loader([0, 1, 2]):
        break
    list(run.loader([0, 1]))
    run.finish()

    assert len(tracker.values("monitoring/train/step/seconds")) == 2


def in_thread(call):
    answers = []
    thread = threading.Thread(target=lambda: answers.append(call()))
    thread.start()
    thread.join()
    return answers[0]


def test_a_loop_that_is_not_timed_leaves_the_scripts_iterator_open(run):
    def endless():
        yield from itertools.count()

    batches = endless()
    for _ in run.loader([0]):
        assert next(iter(run.loader(batches))) == 0
        assert in_thread(lambda: next(iter(run.loader(batches)))) == 1
    with run.steps.paused():
        for _ in run.loader(batches):
            break

    assert next(batches) == 3


def test_an_iterator_that_was_left_open_is_told_of_once(tracker, run, caplog):
    left = iter(run.loader([0, 1]))
    next(left)
    for _ in range(2):
        list(run.loader(range(1_000)))
    assert caplog.text.count("iterator.close()") == 1

    left.close()
    list(run.loader([0, 1]))
    run.finish()
    assert len(tracker.values("monitoring/train/step/seconds")) == 2


def test_an_evaluation_within_a_step_is_told_of_by_nobody(run, caplog):
    for number in run.loader(range(3)):
        if number:
            list(run.loader(range(1_500)))

    assert caplog.text == ""


def test_a_loop_of_another_thread_is_not_timed_which_is_said_once(tracker, run, caplog):
    for _ in run.loader([0]):
        for _ in range(2):
            assert in_thread(lambda: list(run.loader([1, 2]))) == [1, 2]
    run.finish()

    assert len(tracker.values("monitoring/train/step/seconds")) == 1
    assert caplog.text.count("a loop is not timed") == 1


def test_phases_of_another_thread_than_the_loops_are_named_once(run, caplog):
    def prefetch():
        with run.phase("prefetch"):
            pass

    caplog.set_level("INFO", "seamark")
    in_thread(prefetch)
    for _ in run.loader([0]):
        in_thread(prefetch)
        in_thread(prefetch)

    assert caplog.text.count("a phase is not logged") == 1


def test_trials_that_overlap_may_end_in_any_order(run):
    first, second = run.steps.paused(), run.steps.paused()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert not run.steps.begin()
    second.__exit__(None, None, None)
    assert run.steps.begin()


class Unwilling:
    """A loader whose attributes raise before it is set up."""

    @property
    def batch_size(self):
        raise RuntimeError("not set up")

    num_workers = batch_sampler = pin_memory = batch_size

    def __iter__(self):
        return iter([[0.0] * 4])


@pytest.mark.parametrize("given", [{}, {"batch_size": 4, "workers": 2}])
def test_a_loader_that_raises_when_it_is_asked_is_only_not_known(tracker, run, given):
    assert list(run.loader(Unwilling(), **given)) == [[0.0] * 4]
    run.finish()

    facts = tracker.attributes()
    assert facts.get("monitoring/train/facts/batch_size") == given.get("batch_size")
    assert facts.get("monitoring/train/facts/loader_workers") == given.get("workers")


def called_by(module, call):
    """Call it from the code of a module of that name."""
    namespace = {"__name__": module}
    exec("def fit(call): return call()", namespace)
    return namespace["fit"](call)


def fitting(call):
    return called_by("keras.src.trainer", call)


def test_a_loop_of_a_framework_takes_the_place_of_an_earlier_one(run):
    steps = run.steps

    def begin_again():
        assert steps.begin("keras")
        assert not steps.begin()
        assert not steps.begin("transformers")
        elsewhere = []
        thread = threading.Thread(target=lambda: elsewhere.append(steps.begin("keras")))
        thread.start()
        thread.join()
        assert elsewhere == [False]
        assert steps.begin("keras")
        with steps.paused():
            assert not steps.begin("keras")

    fitting(begin_again)


def test_a_loop_of_a_framework_that_an_error_ended_is_in_no_others_way(run):
    steps = run.steps
    assert fitting(lambda: steps.begin("keras"))
    assert not steps.is_looping
    assert steps.begin()
    assert not steps.begin("keras")
    steps.end()
    assert fitting(lambda: steps.begin("keras"))
    assert called_by("transformers.trainer", lambda: steps.begin("transformers"))


def test_a_loop_of_a_framework_that_goes_on_is_known_by_its_code(run):
    steps = run.steps
    seen = fitting(lambda: (steps.begin("keras"), steps.is_looping, steps.begin()))

    assert seen == (True, True, False)


def test_the_late_end_of_a_loop_that_an_error_ended_ends_no_other(run):
    steps = run.steps
    fitting(lambda: steps.begin("keras"))
    assert steps.begin()
    steps.end("keras")
    assert steps.is_looping
    steps.end()
    assert not steps.is_looping


def test_where_nobody_asked_for_a_batch_its_wait_is_unknown(tracker, run):
    clock = StepClock(run.steps)
    clock.arrive()
    clock.arrive()
    clock.ask()
    clock.arrive()
    clock.arrive()
    run.finish()

    assert sorted(tracker.steps("monitoring/train/step/seconds")) == [0, 1, 2]
    assert tracker.steps("monitoring/train/step/data_wait_seconds") == [1]


def test_a_phase_outside_of_loops_is_counted_by_itself(tracker, run):
    for _ in range(3):
        with run.phase("decode"):
            pass
    run.finish()

    assert tracker.steps("monitoring/train/step/phase/decode_seconds") == [0, 1, 2]


def test_an_error_in_the_loop_reaches_the_user(run):
    with pytest.raises(ZeroDivisionError), run.phase("forward"):
        list(run.loader(1 // n for n in (1, 0)))


class Shaped:
    def __init__(self, *shape):
        self.shape = shape


class Odd:
    @property
    def shape(self):
        raise RuntimeError("no shape yet")


@pytest.mark.parametrize(
    ("batch", "batch_size", "examples"),
    [
        (np.zeros((32, 3)), None, 32),
        ([np.zeros((32, 3)), np.zeros(32)], None, 32),
        ({"x": np.zeros((8, 3)), "y": np.zeros(8)}, None, 8),
        ([np.zeros((28, 28))] * 32, 32, 32),
        ([{"x": 1}, {"x": 2}], None, 2),
        (["a text", "another"], None, 2),
        ([1, 2, 3], None, 3),
        ("text", None, None),
        (7, None, None),
        (np.float64(1), None, None),
        ([], None, None),
        (Shaped(None, 3), None, None),
        (Odd(), None, None),
        (np.zeros((100, 2)), 64, None),
        (np.zeros((10, 2)), 64, 10),
        (("a text", 7), None, None),
        ([np.zeros((2, 3)), np.zeros((4, 3)), np.zeros((3, 3))], 3, 3),
        # Two views and their labels, as a tuple and as collated by PyTorch.
        (((np.zeros((8, 3)), np.zeros((8, 3))), np.zeros(8)), None, 8),
        ([[np.zeros((8, 3)), np.zeros((8, 3))], np.zeros(8)], 32, 8),
        (({"ids": np.zeros((8, 12))}, np.zeros(8)), 32, 8),
        # Time comes first: how many there are cannot be seen.
        ((np.zeros((128, 8)), np.zeros((128, 8))), 32, None),
        # A batch of each of several loaders.
        ({"a": (np.zeros((8, 3)), np.zeros(8)), "b": [np.zeros((8, 3))] * 2}, None, 8),
        # If loaders differ, the size of the first; never the number of loaders.
        ({n: (np.zeros((n, 3)), np.zeros((n, 3))) for n in (16, 48)}, None, 16),
        # The size of a list of examples is its length, whatever the examples contain.
        ([(np.zeros((3, 28, 28)), 1)] * 20, 32, 20),
        ([(np.zeros((3, 28, 28)), 1)] * 2, 32, 2),
        ([{"image": np.zeros((3, 28, 28))}] * 20, 32, 20),
        ([[1, 2, 3], [4, 5], [6], [7], [8]], None, 5),
        # Images in one tuple, their objects in another.
        (
            (
                tuple(np.zeros((3, 20, width)) for width in range(5)),
                tuple({"boxes": np.zeros((n, 4)), "n": n} for n in range(5)),
            ),
            32,
            5,
        ),
        ((["a text", "another"], np.zeros(2)), None, 2),
    ],
)
def test_the_examples_of_a_batch_are_counted_where_they_can_be_seen(
    batch, batch_size, examples
):
    assert count_examples(batch, batch_size) == examples


def test_phases_of_another_thread_take_nothing_from_those_of_the_loop(tracker, run):
    def prefetch():
        with run.phase("prefetch"):
            time.sleep(0.05)

    for _ in run.loader([0]):
        with run.phase("forward"):
            thread = threading.Thread(target=prefetch)
            thread.start()
            thread.join()
    run.finish()

    (forward,) = tracker.values("monitoring/train/step/phase/forward_seconds")
    assert forward >= 0.05


class Broken:
    @property
    def shape(self):
        raise AssertionError("only inside of a session")


def test_a_batch_that_raises_whatever_it_likes_is_only_not_counted():
    assert count_examples(Broken(), None) is None
