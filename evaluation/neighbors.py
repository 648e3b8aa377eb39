"""Programs that share the machine with a job: python -m evaluation.neighbors NAME."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

COMPILED = "import ast, pathlib; ast.parse(pathlib.Path(ast.__file__).read_text())"


def periodic() -> None:
    """Compute 0.3 s of every 3 s, as a monitoring or sync job does."""
    while True:
        _compute(0.3)
        time.sleep(2.7)


def build() -> None:
    """Run bursts of short processes, as a build does, with pauses between them."""
    while True:
        for _ in range(12):
            pair = [
                subprocess.Popen([sys.executable, "-c", COMPILED]) for _ in range(2)
            ]
            for each in pair:
                each.wait()
        time.sleep(4.0)


def training() -> None:
    """Train a small model on one core all the time."""
    random = np.random.default_rng(0)
    inputs = random.normal(size=(256, 128))
    weights = random.normal(size=(128, 128)) * 0.01
    while True:
        weights -= 1e-3 * inputs.T @ np.tanh(inputs @ weights)


NEIGHBORS = {"periodic": periodic, "build": build, "training": training}


def _compute(seconds: float) -> None:
    until = time.thread_time() + seconds
    values = np.linspace(0.0, 1.0, 20_000)
    while time.thread_time() < until:
        values = np.sqrt(values * values + 1e-9)


@contextmanager
def neighbor(name: str) -> Iterator[None]:
    """Run a neighbor, or none, for as long as the block takes."""
    if not name:
        yield
        return
    program = subprocess.Popen(
        [sys.executable, "-m", "evaluation.neighbors", name], process_group=0
    )
    try:
        time.sleep(1.0)
        yield
    finally:
        os.killpg(program.pid, 9)
        program.wait()


if __name__ == "__main__":
    NEIGHBORS[sys.argv[1]]()
