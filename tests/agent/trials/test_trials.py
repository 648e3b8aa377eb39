"""run.probe in real processes, with loaders of real worker processes."""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import time

import numpy as np
import pytest

import agent
from seamark.trials import clock
from seamark.trials.loaders import batches_ready, effective_cores, worker_counts

PROBE = "monitoring/train/probe"


@pytest.fixture
def run(tracker):
    return agent.init("r", stage="train", monitor=False)


class Batches:
    """A script's loader: with or without workers, and a cost per batch."""

    batch_size = 4

    def __init__(self, workers=0, seconds=0.02, count=30):
        self.num_workers, self.seconds, self.count = workers, seconds, count
        self._pool = multiprocessing.get_context("fork").Pool(workers) if workers else 0

    def __iter__(self):
        costs = [self.seconds] * self.count
        yield from self._pool.imap(load, costs) if self._pool else map(load, costs)

    def close(self):
        if self._pool:
            self._pool.terminate()


def load(seconds):
    time.sleep(seconds)
    return [0.0] * 4


def test_the_step_alone_is_timed_on_one_batch(tracker, run):
    seen = []

    def step(batch):
        time.sleep(0.01)
        seen.append(batch)

    result = run.probe.synthetic(step, "batch", seconds=0.3)
    run.finish()

    stored = tracker.attributes()
    assert result.step_seconds >= 0.01
    assert stored[f"{PROBE}/synthetic/step_seconds"] == result.step_seconds
    assert stored[f"{PROBE}/synthetic/steps"] == result.steps
    assert set(seen) == {"batch"}


def test_the_loader_alone_is_timed_without_the_model(tracker, run):
    result = run.probe.loader(Batches(), seconds=20)
    run.finish()

    stored = tracker.attributes()
    assert result.batch_seconds >= 0.02
    assert stored[f"{PROBE}/loader/batch_seconds"] == result.batch_seconds
    assert stored[f"{PROBE}/loader/first_batch_seconds"] >= 0.02


def test_the_second_pass_is_what_preparing_costs(tracker, run):
    class Fetched(Batches):
        kept = False

        def __iter__(self):
            for _ in range(100):
                time.sleep(0.005 if self.kept else 0.05)
                yield [0.0]
                self.kept = self.kept or self.ends()

        passed = 0

        def ends(self):
            self.passed += 1
            return self.passed == 4

    result = run.probe.cached(Fetched(), batches=4)
    run.finish()

    stored = tracker.attributes()
    assert result.batches == 4
    assert result.first_pass_seconds >= 0.05
    assert result.fetch_seconds == result.first_pass_seconds - result.batch_seconds
    assert stored[f"{PROBE}/cached/fetch_seconds"] == result.fetch_seconds


def endless():
    number = 0
    while True:
        yield [number] * 4
        number += 1


@pytest.mark.parametrize("is_wrapped", [False, True])
def test_an_iterator_is_the_scripts_own_and_goes_on(run, caplog, is_wrapped):
    batches = endless()
    loader = run.loader(batches) if is_wrapped else batches

    for _ in range(2):
        assert run.probe.loader(loader, seconds=0.05).batches > 0

    assert next(batches)[0] > 0
    assert caplog.text.count("were taken from an iterator") == 1


@pytest.mark.parametrize("is_wrapped", [False, True])
def test_an_iterator_cannot_be_passed_over_twice(run, caplog, is_wrapped):
    batches = endless()

    assert run.probe.cached(run.loader(batches) if is_wrapped else batches) is None
    assert next(batches) == [0] * 4
    assert "cannot be read twice" in caplog.text


def test_both_passes_together_take_a_minute_at_most(run, monkeypatch):
    monkeypatch.setattr(clock, "MAX_SECONDS", 1.0)
    began = time.perf_counter()

    run.probe.cached(Batches(count=1_000), batches=1_000, seconds=100)

    assert time.perf_counter() - began < 1.9


def test_what_comes_while_workers_start_is_no_cost_of_preparing(run):
    class Starting(Batches):
        def __iter__(self):
            time.sleep(0.6)
            yield from [0] * 5
            for _ in range(100):
                time.sleep(0.025)
                yield 0

    loader = Starting()
    loader.num_workers = 2

    result = run.probe.cached(loader, batches=7)

    # As many for each worker.
    assert result.batches == 8
    assert 0.025 <= result.batch_seconds < 0.06


def test_random_numbers_are_as_if_nothing_had_been_tried(run):
    def draw(_batch=None):
        return random.random(), np.random.rand()

    random.seed(0)
    np.random.seed(0)
    expected = draw()
    random.seed(0)
    np.random.seed(0)

    assert run.probe.synthetic(draw, 1, seconds=0.01)
    assert run.probe.batch(len, lambda size: [draw()] * size, seconds=0.01)
    assert run.probe.synthetic(lambda _: draw()[2], 1) is None
    assert draw() == expected


def test_batch_sizes_make_a_line(tracker, run):
    result = run.probe.batch(
        lambda batch: time.sleep(0.01 + 0.002 * len(batch)),
        lambda size: [0.0] * size,
        sizes=[4, 32],
        seconds=2,
    )
    run.finish()

    stored = tracker.attributes()
    assert result.step_seconds[32] > result.step_seconds[4] >= 0.018
    assert stored[f"{PROBE}/batch/seconds_per_example"] > 0
    assert f"{PROBE}/batch/size/32/step_seconds" in stored
    # No allocator reports the memory of a step.
    assert result.memory_bytes == {}
    assert f"{PROBE}/batch/largest" not in stored


def test_a_batch_that_does_not_fit_ends_the_trial_and_no_more(tracker, run):
    def make_batch(size):
        if size > 16:
            raise MemoryError
        return [0.0] * size

    result = run.probe.batch(len, make_batch, sizes=[8, 16, 32, 64], seconds=1)
    run.finish()

    assert [*result.step_seconds] == [8, 16]
    assert result.out_of_memory_at == 32
    assert result.largest == 16
    assert tracker.attributes()[f"{PROBE}/batch/out_of_memory_at"] == 32


def test_more_workers_are_tried_and_the_fewest_good_ones_named(tracker, run):
    made = []

    def make_loader(workers):
        made.append(Batches(workers, seconds=0.03, count=60))
        return made[-1]

    result = run.probe.workers(make_loader, counts=[0, 3], seconds=60)
    run.finish()

    assert result.best == 3
    assert result.batch_seconds[3] < result.batch_seconds[0]
    assert tracker.attributes()[f"{PROBE}/workers/best"] == 3
    # No process of the loaders is left.
    assert not multiprocessing.active_children()


def test_no_trial_raises_into_the_script(tracker, run, caplog):
    def broken(*_given):
        raise RuntimeError("broken on purpose")

    class Broken:
        def __iter__(self):
            raise RuntimeError("broken on purpose")

    assert run.probe.synthetic(broken, 1) is None
    assert run.probe.loader(Broken()) is None
    assert run.probe.cached(Broken()) is None
    assert run.probe.batch(broken, list) is None
    assert run.probe.workers(broken) is None
    assert run.probe.loader(7) is None
    assert run.probe.batch(len, lambda size: [0] * size, sizes=[]) is None
    run.finish()

    assert "broken on purpose" in caplog.text
    assert not [path for path in tracker.attributes() if "/probe/" in path]


def test_ctrl_c_ends_a_trial(tracker, run):
    def interrupted(_batch):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run.probe.synthetic(interrupted, 1)
    # The steps that follow are logged as ever.
    for _ in run.loader([1, 2]):
        pass
    run.finish()
    assert len(tracker.values("monitoring/train/step/seconds")) == 2


def test_steps_and_phases_of_a_trial_are_none_of_the_training(tracker, run):
    def step(_batch):
        with run.phase("forward"):
            pass

    run.probe.synthetic(step, 1, seconds=0.05)
    run.probe.loader(run.loader(Batches(count=8)))
    for _ in run.loader([1, 2, 3]):
        with run.phase("forward"):
            pass
    run.finish()

    assert len(tracker.values("monitoring/train/step/seconds")) == 3
    assert len(tracker.values("monitoring/train/step/phase/forward_seconds")) == 3


def test_too_few_batches_are_said_and_not_stored(tracker, run, caplog):
    assert run.probe.loader([1, 2]) is None
    run.finish()

    assert "too few" in caplog.text
    assert f"{PROBE}/loader/batch_seconds" not in tracker.attributes()


def test_a_run_that_is_disabled_tries_nothing(monkeypatch):
    monkeypatch.setenv("SEAMARK_MODE", "disabled")
    run = agent.init("r")

    assert run.probe.synthetic(pytest.fail, "must not be called") is None


def test_a_script_that_probes_ends_as_it_would(run_script, tracker):
    script = """
import time, agent
run = agent.init("r", project="p", stage="train", monitor=False)
print(run.probe.loader([time.sleep(0)] * 100))
print(run.probe.synthetic(lambda batch: 1 / 0, 1))
"""
    ended = run_script(
        script,
        SEAMARK_URL=os.environ["SEAMARK_URL"],
        SEAMARK_TOKEN=os.environ["SEAMARK_TOKEN"],
    )

    assert ended.returncode == 0
    assert "the loader alone delivers a batch every" in ended.stdout
    assert "ZeroDivisionError" in ended.stderr
    assert tracker.attributes()[f"{PROBE}/loader/batches"] > 0


def test_numbers_of_workers_worth_trying():
    assert worker_counts(1) == [0, 1]
    assert worker_counts(2) == [0, 2]
    assert worker_counts(12) == [0, 2, 4, 8, 12]
    assert worker_counts(64) == [0, 2, 4, 8, 16, 32, 64]
    assert 1 <= effective_cores() <= os.cpu_count()


def test_what_is_prepared_already_is_as_much_as_workers_prefetch():
    class Said:
        num_workers = 4
        prefetch_factor = 3

    assert batches_ready(Said()) == 13
    assert batches_ready([1, 2]) == 2


def test_results_are_values_that_can_be_stored(run):
    result = run.probe.loader(Batches(seconds=0.001))

    assert json.dumps(result.values())


def test_each_call_that_fails_says_so(run, caplog):
    for _ in range(2):
        run.probe.synthetic(lambda _batch: 1 / 0, 1)

    assert caplog.text.count("division by zero") == 2
