"""The GPU jobs of the corpus run, tiny and on the CPU: only that their code works."""

from __future__ import annotations

import pytest

from benchmarks.diagnosis.faults import CASES

torch = pytest.importorskip("torch")

from benchmarks.diagnosis.gpu.data import (  # noqa: E402 - it needs PyTorch
    Repeated,
    Texts,
    Tokens,
)
from benchmarks.diagnosis.gpu.jobs import JOBS  # noqa: E402
from benchmarks.diagnosis.gpu.training import Setting, Work, fitted  # noqa: E402

CPU = torch.device("cpu")


@pytest.mark.parametrize("case", [c for c in CASES if c.gpu], ids=lambda c: c.name)
def test_every_case_has_a_job_that_says_what_it_is(case):
    assert JOBS[case.name].__doc__


@pytest.mark.parametrize("name", ["copies-of-a-model", "healthy-gpu-checkpoints"])
def test_a_job_ends_well_and_leaves_its_spool(run_job, name):
    trainer = "benchmarks.diagnosis.gpu.trainer"

    assert len(run_job(trainer, name, "--device", "cpu")) == 1


class Slow(torch.nn.Module):
    """Takes as many milliseconds as it is large."""

    def __init__(self, size):
        super().__init__()
        self.size = size
        self.weight = torch.nn.Parameter(torch.ones(1))

    def forward(self, inputs):
        for _ in range(self.size):
            inputs = inputs * self.weight
        return inputs


def test_a_size_is_between_the_smallest_and_the_largest(tmp_path):
    setting = Setting("slow", CPU, 1.0, tmp_path)

    def make(size):
        model = Slow(size)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        loss_of = lambda model, inputs: model(inputs).sum()  # noqa: E731
        return Work(model, optimizer, loss_of, CPU, autocast=None), (torch.ones(1),)

    work, _ = fitted(setting, make, seconds=1.0, sizes=(1, 2), most=40)

    assert 1 <= work.model.size <= 40


def test_the_next_token_follows_from_the_last_one():
    tokens, targets = Tokens(3, 8, 100)[1]

    assert len(tokens) == len(targets) == 8
    assert torch.equal(targets, (tokens + 7) % 100)
    assert Texts(3, 8, 100)[0][1] in (0, 1)


def test_batches_are_repeated_in_order():
    one, other = (torch.zeros(2),), (torch.ones(2),)

    loader = Repeated([one, other], steps=3)

    assert [batch is one for batch in loader] == [True, False, True]
    assert (len(loader), loader.batch_size) == (3, 2)
