from __future__ import annotations

import pytest

from tests.services import free_port
from tests.slow.end_to_end.installation import DATABASE, Up


@pytest.fixture(scope="session")
def empty_database(tmp_path_factory):
    """A migrated, empty database file; creating one takes seconds."""
    home = Up(tmp_path_factory.mktemp("empty"), free_port())
    made = home.manage("migrate", "-v0")
    assert made.returncode == 0, made.stderr
    return home.data / DATABASE


@pytest.fixture
def up(tmp_path, empty_database):
    """A server that has been installed."""
    yield from stopped(Up(tmp_path, free_port(), empty_database))


@pytest.fixture(scope="module")
def running(tmp_path_factory, empty_database):
    """A running server that the tests of a module share; each leaves it in order."""
    server = Up(tmp_path_factory.mktemp("running"), free_port(), empty_database)
    server.start()
    yield from stopped(server)


@pytest.fixture
def first_up(tmp_path):
    """A server without existing data, not even a folder."""
    yield from stopped(Up(tmp_path, free_port()))


def stopped(up):
    yield up
    if up.process is not None:
        up.process.kill()
        up.process.communicate()
