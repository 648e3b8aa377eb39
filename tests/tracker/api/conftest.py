"""A project with one run, and clients that may read it or write to it.

Imports are inside the fixtures: pytest may load this file before Django is set up.
"""

from __future__ import annotations

import os

import pytest


@pytest.fixture
def project(member):
    from tests.builders import make_project

    return make_project(member, "vision")


@pytest.fixture
def run(project):
    from tests.builders import make_run

    return make_run(project, "baseline")


@pytest.fixture
def signed_in(project, live_server, tmp_path, monkeypatch):
    """Let this process read from a live server as a member of its project."""
    from tracker.actions.access import make_token
    from tracker.actor import Scope

    for name in [name for name in os.environ if name.startswith("SEAMARK_")]:
        monkeypatch.delenv(name)
    member = project.workspace.members.get()
    monkeypatch.setenv("SEAMARK_CONFIG", str(tmp_path / "none.json"))
    monkeypatch.setenv("SEAMARK_URL", live_server.url)
    monkeypatch.setenv("SEAMARK_TOKEN", make_token(member, "test", Scope.READ))
    monkeypatch.setenv("SEAMARK_PROJECT", "vision")


@pytest.fixture
def client_with(api):
    """Return a function that creates a client with a new token of a scope."""
    from tracker.actions.access import make_token
    from tracker.actor import Scope

    return lambda member, scope: api(make_token(member, scope, Scope(scope)))


@pytest.fixture
def reader(client_with, member):
    return client_with(member, "read")


@pytest.fixture
def writer(client_with, member):
    return client_with(member, "log")


@pytest.fixture
def strange_reader(client_with, stranger):
    return client_with(stranger, "read")
