"""The GPU jobs of the corpus run, tiny and on the CPU: only that their code works."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from agent.spool_reader import find_spools
from benchmarks.diagnosis.faults import CASES

torch = pytest.importorskip("torch")

from benchmarks.diagnosis import gpu_jobs  # noqa: E402 - it needs PyTorch
from benchmarks.diagnosis.gpu_data import Repeated, Texts, Tokens  # noqa: E402
from benchmarks.diagnosis.gpu_training import Setting, Work, fitted  # noqa: E402

REPOSITORY = Path(__file__).parents[3]
CPU = torch.device("cpu")


@pytest.mark.parametrize("case", [c for c in CASES if c.gpu], ids=lambda c: c.name)
def test_every_case_has_a_job_that_says_what_it_is(case):
    assert gpu_jobs.job_of(case.name).__doc__


@pytest.mark.parametrize("name", ["copies-of-a-model", "healthy-gpu-checkpoints"])
def test_a_job_ends_well_and_leaves_its_spool(tmp_path, name):
    variables = {k: v for k, v in os.environ.items() if not k.startswith("SEAMARK_")}
    ended = subprocess.run(
        [
            *(sys.executable, "-m", "benchmarks.diagnosis.gpu_trainer", name),
            *("--device", "cpu", "--seconds", "1"),
        ],
        env={
            **variables,
            "PYTHONPATH": str(REPOSITORY),
            "SEAMARK_MODE": "offline",
            "SEAMARK_SPOOL": str(tmp_path),
        },
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert ended.returncode == 0, ended.stderr
    assert len([*find_spools(tmp_path)]) == 1


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
