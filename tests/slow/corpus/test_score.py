"""The diagnosis of the part tune does not get worse."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
FLOORS = ROOT / "evaluation" / "tune" / "floors.json"


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_the_score_of_tune_is_above_its_floor():
    # A separate process, because the score creates its own database.
    done = subprocess.run(
        [sys.executable, "-m", "evaluation.score", "--part", "tune", "--floor", FLOORS],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
