"""Accelerate's own tests of custom trackers, applied to ours.

They are only in its repository: `ACCELERATE_TESTS=FOLDER python3 manage.py test
--frameworks` uses a checkout of the installed release. test_accelerate.py has
equivalent tests.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.slow.frameworks.published import PUBLISHED, run_published
from tests.slow.frameworks.requiring import framework

framework("torch")
framework("accelerate")


@pytest.mark.skipif(
    "ACCELERATE_TESTS" not in os.environ, reason="ACCELERATE_TESTS names no folder"
)
@pytest.mark.timeout(900)
def test_the_published_tests_of_trackers_of_others_pass_with_ours(tmp_path):
    checkout = Path(os.environ["ACCELERATE_TESTS"])

    published = PUBLISHED["accelerate"]

    counts = run_published(published, sys.executable, checkout, tmp_path)

    assert not counts.failed
    assert counts.passed >= published.least
