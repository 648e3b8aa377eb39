"""Benchmarks come to their end: each runs once, as small as it can be."""

import subprocess
import sys

import pytest

from tracker.server.processes import ROOT

# Commands with a text of their last output line.
COMMANDS = [
    (
        "ingest seamark-sqlite --rounds 1 --seconds 1 --metrics 20 --clients 1",
        "Seamark",
    ),
    ("sdk nothing seamark --steps 50", "this checkout"),
    ("runs_table --runs 300 --attributes 20 --rounds 2", "groups by who made it"),
    ("kills web-killed --rounds 1 --clients 1 --database SQLite", "damaged"),
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
