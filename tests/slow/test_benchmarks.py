"""Benchmarks come to their end: each runs once, as small as it can be."""

import subprocess
import sys

import pytest

from tracker.server.processes import ROOT

# Commands with a text of their last output line.
COMMANDS = [
    ("many_metrics --metrics 40 --each 50 --rounds 2", "more than 200 paths"),
    ("reading --longest 20000 --metrics 20 --each 200", "pyarrow"),
]

pytestmark = pytest.mark.processes


@pytest.mark.parametrize(("command", "last"), COMMANDS)
def test_a_small_benchmark_comes_to_its_end(command, last):
    done = subprocess.run(
        [sys.executable, "-m", *f"benchmarks.{command}".split()],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )

    # 1 means that a measurement exceeded its limit on this machine.
    assert done.returncode in (0, 1), done.stderr[-2000:]
    assert last in done.stdout.splitlines()[-1], done.stderr[-2000:]
