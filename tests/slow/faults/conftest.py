from __future__ import annotations

from functools import partial

import pytest
from django.conf import settings

from benchmarks.kills.case import POSTGRESQL, SQLITE, Database, Size
from benchmarks.kills.installation import Installation
from tests.agent.tracker_double import TrackerDouble


@pytest.fixture(scope="session")
def database():
    """A database of this test run's kind that can be stopped and started."""
    with Database(SQLITE if settings.IS_SQLITE else POSTGRESQL) as database:
        yield database


@pytest.fixture(scope="session")
def installation(database, tmp_path_factory):
    """Web servers, a worker and a scheduler, on that database."""
    folder = tmp_path_factory.mktemp("installation")
    with Installation(folder, database_url=database.url) as installation:
        yield installation


@pytest.fixture
def size(tmp_path):
    """Return a function that returns the size of a case, with a fixed seed."""
    return partial(Size, tmp_path / "home", clients=2)


@pytest.fixture
def tracker():
    double = TrackerDouble()
    yield double
    double.stop()
