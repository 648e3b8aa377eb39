"""Fixtures for tests with the real frameworks, which have their own environment.

`python3 manage.py test --frameworks` creates it and runs these tests. In other
environments, tests without their framework are skipped.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import agent
from tests.agent.conftest import (  # noqa: F401 - fixtures
    clean_environment,
    finished_runs,
    run_script,
    spool_root,
    tracker,
)

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(HERE):
            # Frameworks warn about each other.
            item.add_marker(pytest.mark.filterwarnings("default"))


@pytest.fixture
def run(tracker):  # noqa: F811 - the fixture
    return agent.init("r", project="p", stage="train", monitor=False, strict=True)
