"""Metric rules over the API."""

from __future__ import annotations

import pytest

from tests.builders import make_member
from tests.tracker.api.v1.people.test_members import send
from tracker.models import MetricRule, Role

pytestmark = [pytest.mark.django_db, pytest.mark.database]

RULES = "/api/v1/projects/ada-workspace/vision/metric-rules"
DIVERGES = {"path": "train/loss", "condition": "above", "limit": 10, "duration": 5}


@pytest.fixture
def manager(client_with, member, project):
    return client_with(member, "manage")


def test_a_rule_is_created_changed_paused_and_deleted(manager):
    made = send(manager, "post", RULES, unit="steps", is_shared=True, **DIVERGES).json()
    address = f"{RULES}/{made['id']}"

    assert manager.get(RULES).json() == {"rules": [made]}
    assert (made["limit"], made["duration"], made["unit"]) == (10, 5, "steps")
    changed = send(manager, "patch", address, limit=0.25, is_paused=True).json()
    assert changed == {**made, "limit": 0.25, "is_paused": True}
    assert not send(manager, "patch", address, is_paused=False).json()["is_paused"]
    assert manager.delete(address).json() == {"id": made["id"], "is_deleted": True}
    assert manager.get(RULES).json() == {"rules": []}


@pytest.mark.parametrize(
    "wanted",
    [
        {},
        {"path": "a", "condition": "odd"},
        {"path": "", "condition": "not-finite"},
        {"path": "a", "condition": "above"},
        {"path": "a", "condition": "no-point"},
        {"path": "a", "condition": "not-finite", "run": "none"},
        {"path": "a", "condition": "above", "limit": 1, "duration": -1},
    ],
)
def test_an_invalid_rule_is_refused(manager, wanted):
    assert send(manager, "post", RULES, **wanted).status_code == 400
    assert not MetricRule.objects.exists()


def test_a_change_that_cannot_work_leaves_the_rule(manager):
    made = send(manager, "post", RULES, **DIVERGES).json()
    address = f"{RULES}/{made['id']}"

    for wanted in ({}, {"limit": None}, {"path": None}, {"is_shared": None}):
        assert send(manager, "patch", address, **wanted).status_code == 400
    assert manager.get(RULES).json() == {"rules": [made]}


def test_viewers_have_rules_of_their_own_and_share_none(client_with, member, manager):
    viewer = client_with(
        make_member("vera", Role.VIEWER, workspace=member.workspace), "manage"
    )
    of_ada = send(manager, "post", RULES, **DIVERGES).json()

    assert send(viewer, "post", RULES, is_shared=True, **DIVERGES).status_code == 403
    own = send(viewer, "post", RULES, **DIVERGES).json()
    assert viewer.get(RULES).json() == {"rules": [own]}
    assert viewer.delete(f"{RULES}/{of_ada['id']}").status_code == 404
    reader = client_with(member, "read")
    assert send(reader, "post", RULES, **DIVERGES).status_code == 403
