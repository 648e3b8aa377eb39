"""Dismissing a finding on a run's page, and taking that back."""

from __future__ import annotations

import pytest
from django.urls import reverse

from tests.builders import make_member, make_project
from tests.web.sample_run import make_sample_run
from tracker.actions.diagnoses.diagnoses import diagnose_run
from tracker.models import Finding, Role
from tracker.queries.diagnoses.diagnoses import main_findings

pytestmark = pytest.mark.django_db

RULE = "too-few-loader-workers"


@pytest.fixture
def run(member):
    return make_sample_run(make_project(member))


@pytest.fixture
def owner(client_of, member):
    return client_of(member)


def finding(run) -> Finding:
    return Finding.objects.get(run=run, rule=RULE)


def dismiss(client, run, reason="Streams on purpose"):
    address = reverse("finding-dismiss", args=[run.id, finding(run).id])
    return client.post(address, {"reason": reason})


def page_of(client, run) -> str:
    return client.get(reverse("run", args=[run.id])).content.decode()


def test_a_dismissed_finding_is_folded_with_its_reason(owner, run):
    assert dismiss(owner, run, "Streams <b>on purpose</b>").status_code == 302

    page = page_of(owner, run)

    assert f'id="finding-{finding(run).id}"' not in page
    assert "Streams &lt;b&gt;on purpose&lt;/b&gt;" in page


def test_it_is_no_run_s_main_finding_any_more(owner, run):
    dismiss(owner, run)

    found = main_findings([run.id]).get(run.id)
    assert found is None or found.rule != RULE


def test_it_stays_dismissed_when_the_rule_looks_again(owner, run):
    dismiss(owner, run)
    diagnose_run(run.id)

    assert finding(run).dismissed_reason == "Streams on purpose"


def test_it_can_be_brought_back(owner, run):
    dismiss(owner, run)
    owner.post(reverse("finding-bring-back", args=[run.id, finding(run).id]))

    assert f'id="finding-{finding(run).id}"' in page_of(owner, run)


@pytest.mark.parametrize("reason", ["", "  ", "x" * 501], ids=["none", "blank", "long"])
def test_a_reason_is_asked_for(owner, run, reason):
    assert dismiss(owner, run, reason).status_code == 400
    assert finding(run).dismissed_at is None


def test_who_only_reads_cannot_dismiss(client_of, run):
    workspace = run.project.workspace
    viewer = client_of(make_member("vera", Role.VIEWER, workspace=workspace))

    assert dismiss(viewer, run).status_code == 403
    assert "Dismiss this finding" not in page_of(viewer, run)


def test_a_finding_of_another_run_is_not_found(owner, member, run):
    other = make_sample_run(make_project(member, "other"))
    address = reverse("finding-dismiss", args=[other.id, finding(run).id])

    assert owner.post(address, {"reason": "No"}).status_code == 404
