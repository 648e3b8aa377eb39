"""The PyTorch loop of the overhead benchmark runs with the real library."""

from __future__ import annotations

import sys

import pytest

from benchmarks.agent_faults.case import Size
from benchmarks.agent_faults.overhead import WAYS, Pace, compared
from tests.slow.frameworks.requiring import framework

framework("torch")


@pytest.mark.timeout(300)
def test_loops_of_pytorch_with_and_without_a_run_take_turns(tmp_path):
    pace = Pace(turn_seconds=0.3, start_seconds=1.0)

    found = compared("torch", sys.executable, Size(tmp_path, 1), pace)

    assert len(found) == 1 + len(WAYS)
    assert all("loader, three phases" in one.done for one in found[1:])
