from __future__ import annotations

from io import StringIO
from uuid import uuid4

import pytest
from django.core.management import call_command

from tests.builders import make_project
from tests.tracker.queries.measured import measured_run
from tracker.actions.diagnoses import rediagnoses
from tracker.actions.diagnoses.diagnoses import diagnose_run
from tracker.actions.diagnoses.rediagnoses import Done, diagnose_again, runs_of
from tracker.actions.diagnoses.rule_settings import set_rule
from tracker.models import Diagnosis, Finding, Member, Run

pytestmark = [pytest.mark.django_db, pytest.mark.database]

D1 = "data-wait-dominates"


@pytest.fixture
def run() -> Run:
    run = measured_run()
    diagnose_run(run.id)
    return run


def owner_of(run: Run) -> Member:
    return Member.objects.get(workspace=run.project.workspace)


def done(**options) -> list[Done]:
    return [each.done for each in diagnose_again(runs_of(), **options)]


def command(**options) -> str:
    out = StringIO()
    call_command("diagnose", stdout=out, **options)
    return out.getvalue()


def test_diagnosing_again_twice_gives_the_same_findings(run):
    Finding.objects.all().delete()

    assert done() == [Done.DIAGNOSED]
    before = list(Finding.objects.order_by("id").values())
    assert done() == [Done.DIAGNOSED]

    assert before
    assert list(Finding.objects.order_by("id").values()) == before


def test_leaves_out_what_was_diagnosed_with_these_rules(run):
    assert done(only_outdated=True) == [Done.UP_TO_DATE]

    Diagnosis.objects.update(rules_version="older")

    assert done(only_outdated=True) == [Done.DIAGNOSED]
    assert done(only_outdated=True) == [Done.UP_TO_DATE]


def test_other_limits_are_other_rules(run):
    set_rule(run.project, D1, is_off=True, limits={})

    assert done(only_outdated=True) == [Done.DIAGNOSED]
    assert not Finding.objects.get(rule=D1).is_open


def test_a_run_without_a_diagnosis_counts_as_outdated(run):
    Diagnosis.objects.all().delete()

    assert done(only_outdated=True) == [Done.DIAGNOSED]


def test_one_that_fails_keeps_no_other_from_it(run, monkeypatch):
    other = measured_run("other")
    real = diagnose_run

    def diagnose(run_id):
        if run_id == min(run.id, other.id):
            raise OSError("the disk is gone")
        real(run_id)

    monkeypatch.setattr(rediagnoses, "diagnose_run", diagnose)

    assert done() == [Done.FAILED, Done.DIAGNOSED]


def test_goes_on_after_a_run(run, monkeypatch):
    other = measured_run("other")
    monkeypatch.setattr(rediagnoses, "RUNS_AT_ONCE", 1)

    assert len(done()) == 2
    assert len(done(after=min(run.id, other.id))) == 1


def test_the_command_says_what_it_did(run):
    make_project(owner_of(run), "empty")

    assert "1 diagnosed, 0 up to date, 0 failed." in command(project="vision")
    assert "0 diagnosed, 1 up to date" in command(older_than_rules=True)
    assert "1 diagnosed" in command(run=str(run.id))
    for refused in ({}, {"project": "empty"}, {"run": str(uuid4())}):
        with pytest.raises(SystemExit):
            command(**refused)


def test_runs_in_the_trash_are_left_alone(run):
    Run.objects.update(trashed_at="2026-01-01T00:00Z")

    assert done() == []


def test_a_runs_page_says_that_rules_have_changed(run, client_of):
    client = client_of(owner_of(run))
    notice = "Rules or limits have changed since this run was diagnosed"

    assert notice not in client.get(f"/runs/{run.id}/").content.decode()
    Diagnosis.objects.update(rules_version="older")
    assert notice in client.get(f"/runs/{run.id}/").content.decode()
