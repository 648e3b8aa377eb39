"""Lightning's own tests of loggers, with ours in their list.

They are only in its repository: `LIGHTNING_TESTS=FOLDER python3 manage.py test
--frameworks` uses a checkout of the installed release. test_lightning.py has
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
framework("lightning")


@pytest.mark.skipif(
    "LIGHTNING_TESTS" not in os.environ, reason="LIGHTNING_TESTS names no folder"
)
@pytest.mark.timeout(900)
def test_the_published_tests_of_all_loggers_pass_with_ours(tmp_path):
    checkout = Path(os.environ["LIGHTNING_TESTS"])

    published = PUBLISHED["lightning"]

    counts = run_published(published, sys.executable, checkout, tmp_path)

    assert not counts.failed
    assert counts.passed >= published.least
