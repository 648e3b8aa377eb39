"""Fixtures for page tests with runs of several projects."""

from __future__ import annotations

import pytest
from django.urls import reverse

from tests.builders import make_project


@pytest.fixture
def beside(member):
    """Another project of the workspace."""
    return make_project(member, "speech")


@pytest.fixture
def visitor(client_of, member):
    return client_of(member)


@pytest.fixture
def compared(visitor, project):
    """Return a function that opens one of the addresses of a comparison."""

    def get(*runs, name="compare", **query):
        ids = ",".join(str(run.id) for run in runs)
        address = reverse(name, args=[project.workspace.slug, project.slug])
        return visitor.get(address, {"runs": ids, **query})

    return get
