from __future__ import annotations

import pytest

from tests.agent.commands.site import Site


@pytest.fixture
def sites():
    """Return a function that starts a site; all are stopped in the end."""
    started = []

    def start(certificate=None):
        started.append(Site(certificate))
        return started[-1]

    yield start
    for site in started:
        site.stop()


@pytest.fixture
def site(sites):
    return sites()


@pytest.fixture
def agent_file(tmp_path):
    return tmp_path / "config" / "seamark" / "agent.json"
