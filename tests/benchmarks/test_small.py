"""Benchmarks come to their end: each runs once, as small as it can be."""

import subprocess
import sys

import pytest

from tracker.processes import ROOT

COMMANDS = [
    "many_metrics --metrics 40 --each 50 --rounds 2",
    "reading --longest 20000 --metrics 20 --each 200",
    "purge --points 20000 --series 20",
]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_small_benchmark_comes_to_its_end(command):
    done = subprocess.run(
        [sys.executable, "-m", *f"benchmarks.{command}".split()],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )

    # 1 says that something took longer than it should, on whatever machine this is.
    assert done.returncode in (0, 1), done.stderr[-2000:]
    assert "Traceback" not in done.stderr, done.stderr[-2000:]
