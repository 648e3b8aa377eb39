from __future__ import annotations

import shutil

import pytest

from tests.agent.commands.site import Authority, Site


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


@pytest.fixture(scope="session")
def authority(tmp_path_factory):
    if shutil.which("openssl") is None:
        pytest.skip("there is no openssl to make certificates with")
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture
def agent_file(tmp_path):
    return tmp_path / "config" / "seamark" / "agent.json"
