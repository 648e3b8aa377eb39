"""run.probe with PyTorch's own loaders, their worker processes and its errors."""

from __future__ import annotations

import multiprocessing
import time

import pytest

from tests.slow.frameworks.requiring import framework

torch = framework("torch")
data = torch.utils.data

PROBE = "monitoring/train/probe"


class Examples(data.Dataset):
    def __init__(self, seconds=0.002, count=400):
        self.seconds, self.count, self.read = seconds, count, []

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        self.read.append(index)
        time.sleep(self.seconds)
        return torch.full((3,), float(index)), index % 2


def test_a_loader_with_workers_is_timed_alone(tracker, run):
    loader = data.DataLoader(Examples(), batch_size=4, num_workers=2)

    result = run.probe.loader(loader)
    run.finish()

    assert result.batch_seconds > 0.0025
    # The first two batches of each worker, and one more, were ready.
    assert result.batches == 100 - 5
    assert tracker.attributes()[f"{PROBE}/loader/batches"] == result.batches


def test_a_loader_whose_workers_live_on_can_still_be_used(tracker, run):
    loader = data.DataLoader(
        Examples(0.0), batch_size=4, num_workers=1, persistent_workers=True
    )

    assert run.probe.loader(loader, seconds=5)
    assert len(list(loader)) == 100
    loader._iterator._shutdown_workers()


def test_the_same_examples_are_loaded_twice_although_the_loader_shuffles(tracker, run):
    examples = Examples(0.001)
    loader = data.DataLoader(examples, batch_size=4, shuffle=True)

    result = run.probe.cached(loader, batches=5)

    assert result.batches == 5
    assert examples.read[:20] == examples.read[20:]
    # From all over the data set.
    assert examples.read[:20] == [*range(0, 400, 20)]


@pytest.mark.parametrize(
    "make",
    [
        lambda examples: data.DataLoader(
            examples,
            batch_sampler=data.BatchSampler(data.RandomSampler(examples), 4, False),
        ),
        lambda examples: data.DataLoader(
            examples, batch_size=4, sampler=data.SubsetRandomSampler(range(100, 200))
        ),
        lambda examples: data.DataLoader(
            examples, batch_size=None, sampler=data.RandomSampler(examples)
        ),
    ],
    ids=["batches", "examples", "batches by index"],
)
@pytest.mark.parametrize("is_wrapped", [False, True])
def test_what_a_sampler_draws_is_loaded_twice(run, make, is_wrapped):
    examples = Examples(0.001)
    loader = make(examples)

    result = run.probe.cached(run.loader(loader) if is_wrapped else loader, batches=5)

    half = len(examples.read) // 2
    assert result.batches == 5
    assert examples.read[:half] == examples.read[half:]
    assert len({*examples.read}) == half


def test_a_wrapped_loader_is_unwrapped(run):
    examples = Examples(0.001)
    loader = data.DataLoader(examples, batch_size=4, shuffle=True)

    assert run.probe.cached(run.loader(loader), batches=5).batches == 5
    assert examples.read[:20] == examples.read[20:]


class Stream(data.IterableDataset):
    def __iter__(self):
        return iter(torch.zeros(200, 3))


@pytest.mark.parametrize("dataset", [Examples(), Stream()], ids=["examples", "stream"])
def test_the_start_of_workers_is_no_cost_of_preparing(run, dataset):
    loader = data.DataLoader(
        dataset,
        batch_size=4,
        num_workers=1,
        worker_init_fn=lambda _worker: time.sleep(1),
    )

    result = run.probe.cached(loader, batches=3)

    assert result.batches == 3
    assert 0 < result.batch_seconds < 0.2
    assert 0 < result.first_pass_seconds < 0.2
    assert not multiprocessing.active_children()


def test_no_worker_prepares_a_batch_before_the_time_begins(run):
    loader = data.DataLoader(Examples(0.05), batch_size=4, num_workers=2)

    # Two of 0.2 seconds, one after the other, of each worker.
    assert run.probe.cached(loader, batches=4).batch_seconds > 0.09


def test_a_worker_that_fails_as_it_starts_leaves_none(run):
    def fail(_worker):
        raise RuntimeError("broken on purpose")

    loader = data.DataLoader(
        Examples(), batch_size=4, num_workers=2, worker_init_fn=fail
    )

    assert run.probe.cached(loader) is None
    assert not multiprocessing.active_children()


TRIED = {
    "loader": lambda run, loader: run.probe.loader(loader),
    "cached": lambda run, loader: run.probe.cached(loader),
    "workers": lambda run, loader: run.probe.workers(lambda _count: loader, [0]),
}


@pytest.mark.parametrize("name", TRIED)
@pytest.mark.parametrize("is_persistent", [False, True])
@pytest.mark.parametrize("has_generator", [False, True])
def test_random_numbers_and_the_order_are_as_if_nothing_had_been_tried(
    run, name, is_persistent, has_generator
):
    def numbers(try_parts):
        torch.manual_seed(0)
        generator = torch.Generator().manual_seed(1) if has_generator else None
        loader = data.DataLoader(
            Examples(0.0, count=100),
            batch_size=4,
            shuffle=True,
            generator=generator,
            num_workers=int(is_persistent),
            persistent_workers=is_persistent,
        )
        assert try_parts(loader) is not None
        drawn = torch.rand(3).tolist()
        order = [batch[0][:, 0].tolist() for batch in loader]
        return drawn, order, torch.rand(3).tolist()

    expected = numbers(lambda _loader: "nothing")

    assert numbers(lambda loader: TRIED[name](run, loader)) == expected


def test_streams_are_passed_over_as_they_are(tracker, run):
    loader = data.DataLoader(Stream(), batch_size=4)

    assert run.probe.cached(loader, batches=5).batches == 5


def test_numbers_of_workers_are_tried_and_nothing_lives_on(tracker, run):
    def make_loader(workers):
        return data.DataLoader(
            Examples(0.005),
            batch_size=4,
            num_workers=workers,
            persistent_workers=workers > 0,
        )

    result = run.probe.workers(make_loader, counts=[0, 3], seconds=10)
    run.finish()

    assert result.best == 3
    assert tracker.attributes()[f"{PROBE}/workers/best"] == 3
    assert not multiprocessing.active_children()


@pytest.mark.parametrize(
    "message",
    [
        "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of",
        "[enforce fail at alloc_cpu.cpp:124] DefaultCPUAllocator: can't allocate memory",
    ],
)
def test_memory_that_runs_out_ends_the_trial_of_sizes(tracker, run, message):
    def step(batch):
        if len(batch) > 16:
            raise RuntimeError(message)
        return batch.sum()

    result = run.probe.batch(step, torch.zeros, sizes=[8, 16, 32, 64], seconds=1)

    assert result.out_of_memory_at == 32
    assert result.largest == 16


def test_a_real_allocation_that_is_refused_is_no_failure(tracker, run):
    def make_batch(size):
        return torch.zeros(size, 3 if size < 32 else 2**50)

    result = run.probe.batch(lambda b: b.sum(), make_batch, sizes=[8, 16, 32])

    assert result.out_of_memory_at == 32
