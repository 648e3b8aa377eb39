"""Requests that schemathesis generates from the API's own description.

For a longer run:

    TEST_EXAMPLES=500 .venv/bin/python -m pytest tests/tracker/api/test_schema_fuzz.py
"""

from __future__ import annotations

import json
import os
from collections import Counter
from uuid import UUID

import hypothesis
import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.db import close_old_connections
from django.db.backends.base.base import BaseDatabaseWrapper
from hypothesis import strategies as st
from schemathesis.checks import positive_data_acceptance

from tests.builders import (
    Process,
    frames,
    make_member,
    make_project,
    open_message,
    points_message,
    set_message,
)
from tracker.actions.access import make_token
from tracker.actions.ladders import RungRequest, put_ladder
from tracker.actor import Scope
from tracker.api.urls import v1
from tracker.api.v1.ingest import CONTENT_TYPE
from tracker.models import Ladder, Role, Run
from tracker.wsgi import application

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.slow,
    # For longer runs.
    pytest.mark.timeout(3_600 if "TEST_EXAMPLES" in os.environ else 300),
]

EXAMPLES = int(os.environ.get("TEST_EXAMPLES", "8"))
# Counts of requests.
TRIED = Counter[str]()
RUN_ID = "00000000-0000-4000-8000-000000000001"
LADDER_ID = "00000000-0000-4000-8000-000000000002"
SPOOL_ID = "00000000-0000-4000-8000-000000000003"
# Existing objects, which are requested more often than by chance.
KNOWN = {
    "path.workspace": "ada-workspace",
    "path.project": "vision",
    "path.run_id": RUN_ID,
    "path.ladder_id": LADDER_ID,
    "path.spool_id": SPOOL_ID,
    "query.path": "loss",
    "query.run": RUN_ID,
    "body.rungs.[*].run": "baseline",
}
VALUES = [0.1, -0.0, float("nan"), 2**60, True, "text", ["a", "b"]]

INGEST = "/api/v1/ingest/{spool_id}"
GONE = "/api/v1/ingest/{spool_id}/gone"
BLOBS = "/api/v1/blobs/{digest}"
WORKSPACE = "/api/v1/workspaces/{workspace}"
PROJECT = "/api/v1/projects/{workspace}/{project}"
# No schema describes the bytes of a batch, whether a run is pinned, or existing names.
BEYOND_SCHEMAS = {
    INGEST,
    BLOBS,
    "/api/v1/runs/{run_id}/trash",
    "/api/v1/workspaces",
    WORKSPACE,
    f"{WORKSPACE}/keys",
    f"{WORKSPACE}/service-accounts",
    f"{WORKSPACE}/invitations",
    f"{WORKSPACE}/projects",
    PROJECT,
    f"{PROJECT}/move-runs",
    f"{PROJECT}/metric-rules",
    f"{PROJECT}/metric-rules/{{rule_id}}",
    "/api/v1/runs/{run_id}/comments",
    "/api/v1/runs/{run_id}/comments/{run_comment_id}",
    f"{WORKSPACE}/members/{{member_id}}/confirm-email",
    f"{WORKSPACE}/members/{{member_id}}/offboard",
    f"{WORKSPACE}/members/{{member_id}}/remove",
}
# Viewers comment, set their own alerts, and have a workspace of their own to log to.
WRITTEN_BY_VIEWERS = {
    INGEST,
    GONE,
    BLOBS,
    "/api/v1/workspaces",
    f"{PROJECT}/metric-rules",
    "/api/v1/runs/{run_id}/comments",
    "/api/v1/runs/{run_id}/comments/{run_comment_id}",
}
OPAQUE = {"cursor", "query"}  # parameters that schemas do not describe
PUBLIC = {"/livez", "/readyz"}
READING = {"GET", "HEAD", "OPTIONS", "TRACE"}
ABOUT_ONESELF = {"/api/v1/me", "/api/v1/limits"}
# Name, scope of the token, and the URLs that may respond at all; None means every URL.
ROLES = {
    "nobody": (None, None, PUBLIC),
    "agent": ("ada", Scope.LOG, {*PUBLIC, *ABOUT_ONESELF, INGEST, GONE, BLOBS}),
    "reader": ("ada", Scope.READ, None),
    "editor": ("eddie", Scope.MANAGE, None),
    "viewer": ("vera", Scope.MANAGE, None),
    "stranger": (
        "mallory",
        Scope.MANAGE,
        {
            *PUBLIC,
            *ABOUT_ONESELF,
            "/api/v1/projects",
            "/api/v1/workspaces",
            INGEST,
            GONE,
            BLOBS,
        },
    ),
}


def load(*, examples=EXAMPLES, **options):
    names = {known: known.replace(".", "-") for known in KNOWN}
    config = {
        "seed": 1,
        "dictionaries": {
            names[known]: {"values": [value]} for known, value in KNOWN.items()
        },
        "parameters": {
            known: {"dictionary": names[known], "probability": 0.7} for known in KNOWN
        },
        # The roles set the credentials.
        "generation": {"max-examples": examples, "with-security-parameters": False},
        **options,
    }
    # Through JSON, like the document that clients get.
    description = json.loads(json.dumps(v1.get_openapi_schema(), default=str))
    loaded = schemathesis.openapi.from_dict(
        description, config=schemathesis.Config.from_dict(config)
    )
    loaded.app = application
    loaded.hook(filter_body)
    return loaded


def filter_body(_context, body):
    """Exclude bodies that JSON Schema allows and the API does not."""
    if not isinstance(body, dict):
        return True
    # JSON Schema treats 2.0 as an integer.
    if any(isinstance(part, float) and part.is_integer() for part in body.values()):
        return False
    rungs = body.get("rungs")
    if not isinstance(rungs, list):
        return True
    runs = [rung.get("run") for rung in rungs if isinstance(rung, dict)]
    return all(runs.count(run) == 1 for run in runs)


messages = st.sampled_from(
    [
        open_message("another"),
        points_message("loss", [1.0, float("nan")]),
        points_message("loss", [1.0], steps=[float("inf")]),
        set_message("lr", 0.5),
        set_message("lr", "text"),
        {"t": "tags", "add": ["a"], "remove": []},
        {"t": "?"},
    ]
)
batches = st.builds(
    lambda payloads, first: frames(payloads, first=first),
    st.lists(st.lists(messages, max_size=3) | st.binary(max_size=20), max_size=3),
    st.integers(1, 4),
)
schemathesis.openapi.media_type(CONTENT_TYPE, batches | st.binary(max_size=100))
# A client with all permissions tries every combination of parameters; the other roles test
# only access.
everything = load()
some = load(examples=EXAMPLES // 4, phases={"coverage": {"enabled": False}})
one_fixture_for_all_examples = hypothesis.settings(
    suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture]
)
following_links = hypothesis.settings(
    max_examples=EXAMPLES // 2, suppress_health_check=list(hypothesis.HealthCheck)
)


@pytest.fixture(autouse=True)
def one_connection(monkeypatch):
    """Keep the test's transaction open, like Django's test client."""
    monkeypatch.setattr(
        BaseDatabaseWrapper, "close_if_unusable_or_obsolete", lambda _: None
    )
    signals = (request_started, request_finished)
    for signal in signals:
        signal.disconnect(close_old_connections)
    yield
    for signal in signals:
        signal.connect(close_old_connections)


@pytest.fixture
def people(member, stranger):
    """A project with a run of everything, a member and a user without access."""
    project = make_project(member, "vision")
    Run.objects.create(id=RUN_ID, project=project, name="baseline")
    process = Process(project, "baseline")
    process.spool_id = UUID(SPOOL_ID)
    process.open()
    process.send(
        [
            points_message("loss", [0.5, float("nan"), float("inf")]),
            *(set_message(f"params/{n}", value) for n, value in enumerate(VALUES)),
            {"t": "tags", "add": ["good"], "remove": []},
        ]
    )
    ladder = Ladder.objects.create(id=LADDER_ID, project=project, name="climb")
    put_ladder(project, ladder.name, [RungRequest("baseline")])
    colleagues = {
        name: make_member(name, role, workspace=member.workspace)
        for name, role in (("eddie", Role.MEMBER), ("vera", Role.VIEWER))
    }
    return {"ada": member, "mallory": stranger, **colleagues}


# A WSGI test client does not decompress responses.
AS_IT_IS = {"Accept-Encoding": "identity"}


def headers_of(member, scope):
    token = make_token(member, "token", scope)
    return AS_IT_IS | {"Authorization": f"Bearer {token}"}


def excluded(case):
    is_beyond = case.path in BEYOND_SCHEMAS or OPAQUE & set(case.query or ())
    return [positive_data_acceptance] if is_beyond else []


@pytest.fixture
def full(people):
    return headers_of(people["ada"], Scope.MANAGE)


@pytest.mark.postgresql
@everything.parametrize()
@one_fixture_for_all_examples
def test_whatever_is_asked_is_answered_as_described(case, full):
    TRIED["requests"] += 1
    case.call_and_validate(headers=full, excluded_checks=excluded(case))


@pytest.fixture(params=ROLES)
def role(request, people):
    name, scope, addresses = ROLES[request.param]
    headers = headers_of(people[name], scope) if name else AS_IT_IS
    return request.param, headers, addresses


@some.parametrize()
@one_fixture_for_all_examples
def test_each_role_gets_the_described_responses(case, role):
    role_name, headers, addresses = role
    TRIED["requests"] += 1

    response = case.call_and_validate(headers=headers, excluded_checks=excluded(case))

    assert response.status_code >= 400 or addresses is None or case.path in addresses
    if role_name == "viewer" and case.method not in READING:
        assert response.status_code >= 400 or case.path in WRITTEN_BY_VIEWERS


def test_linked_responses_match_the_schema(full):
    followed = set()

    class Links(everything.as_state_machine()):
        def get_call_kwargs(self, case):
            return {"headers": full}

        def validate_response(self, response, case, **options):
            TRIED["requests"] += 1
            if response.status_code == 200:
                followed.add(case.path)
            case.validate_response(
                response,
                headers=full,
                excluded_checks=excluded(case),
                transport_kwargs=options,
                recorder=self.recorder,
            )

    Links.run(settings=following_links)

    # Which links are followed is left to chance; some lead to a resource by its id.
    assert any(path.endswith("_id}") for path in followed), followed
