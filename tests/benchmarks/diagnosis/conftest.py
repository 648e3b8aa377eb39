"""Fixtures for tests of the corpus."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from agent.spool_reader import SpoolReader, find_spools

REPOSITORY = Path(__file__).parents[3]


@pytest.fixture
def run_job(tmp_path):
    """Return a function that runs a job for a second, and returns what it left."""

    def run(trainer: str, *arguments: str) -> list[SpoolReader]:
        kept = {k: v for k, v in os.environ.items() if not k.startswith("SEAMARK_")}
        ended = subprocess.run(
            [sys.executable, "-m", trainer, *arguments, "--seconds", "1"],
            env={
                **kept,
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
        return [*find_spools(tmp_path)]

    return run
