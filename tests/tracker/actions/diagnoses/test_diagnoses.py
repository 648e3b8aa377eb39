from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from tests.builders import make_project, make_run, write_values
from tests.tracker.queries.measured import finish, measure_loop, measured_run
from tracker.actions.diagnoses import diagnoses
from tracker.actions.diagnoses.diagnoses import diagnose_run, runs_to_diagnose
from tracker.actions.work import claim_work, fail_work, request_work
from tracker.models import Diagnosis, Finding, Run, Stage, State, Work, WorkKind

pytestmark = [pytest.mark.django_db, pytest.mark.database]

D1, D2, D3 = (
    "data-wait-dominates",
    "preprocessing-is-cpu-bound",
    "too-few-loader-workers",
)


def finding(run: Run, rule: str = D1) -> Finding:
    return Finding.objects.get(run=run, rule=rule)


def told(finding: Finding) -> list[str]:
    return [entry["what"] for entry in finding.history]


def live_run(**loop) -> Run:
    return measured_run(state=State.RUNNING, **loop)


def goes_on_well(run: Run) -> None:
    """Continue training for half an hour without waiting."""
    measure_loop(run, count=18_000, wait_share=0.0, first_step=400)


def test_keeps_what_the_rules_said():
    run = measured_run()

    diagnose_run(run.id)

    diagnosis = Diagnosis.objects.get(run=run)
    assert diagnosis.is_final
    assert diagnosis.step_count == 390
    assert diagnosis.window_start is not None
    assert diagnosis.unanswered["gpu-memory-is-nearly-full"] == ["a GPU"]
    assert set(Finding.objects.values_list("rule", "explained_by", "is_primary")) == {
        (D3, "", True),
        (D2, D3, False),
        (D1, D2, False),
    }


def test_twice_is_once():
    run = measured_run()
    diagnose_run(run.id)
    before = list(Finding.objects.order_by("id").values())

    diagnose_run(run.id)

    assert list(Finding.objects.order_by("id").values()) == before
    assert Diagnosis.objects.filter(run=run).count() == 1


def test_twice_writes_no_finding_twice():
    run = measured_run()
    diagnose_run(run.id)

    with CaptureQueriesContext(connection) as queries:
        diagnose_run(run.id)

    written = [q["sql"] for q in queries if not q["sql"].startswith("SELECT")]
    assert not [sql for sql in written if "tracker_finding" in sql]


def test_a_stage_that_is_deleted_meanwhile_is_left_alone():
    run = measured_run()
    stage = Stage.objects.select_related("run").get(run=run)
    Stage.objects.filter(run=run).delete()

    diagnoses.diagnose_stage(stage)

    assert not Diagnosis.objects.exists()


def test_a_healthy_run_has_no_findings():
    run = measured_run(wait_share=0.01)

    diagnose_run(run.id)

    assert not Finding.objects.exists()
    assert D1 in Diagnosis.objects.get(run=run).healthy


def test_a_live_run_is_not_final():
    run = live_run()

    diagnose_run(run.id)
    assert not Diagnosis.objects.get(run=run).is_final

    finish(run)
    diagnose_run(run.id)
    assert Diagnosis.objects.get(run=run).is_final


def test_a_fault_that_is_gone_is_cleared_and_kept():
    run = live_run()
    diagnose_run(run.id)

    goes_on_well(run)
    diagnose_run(run.id)

    cleared = finding(run)
    assert not cleared.is_open
    assert not finding(run, D3).is_primary
    assert cleared.cleared_at is not None
    assert told(cleared) == ["opened", "cleared"]


def test_a_fault_that_returns_opens_again():
    run = live_run()
    diagnose_run(run.id)
    goes_on_well(run)
    diagnose_run(run.id)
    measure_loop(run, count=4_000, first_step=18_400)
    diagnose_run(run.id)

    returned = finding(run)

    assert returned.is_open
    assert returned.cleared_at is None
    assert told(returned) == ["opened", "cleared", "opened"]
    assert returned.body["since_step"] > 18_000


def test_says_since_when_however_often_it_is_asked():
    run = live_run()
    diagnose_run(run.id)
    since = finding(run).body["since_step"]

    measure_loop(run, count=8_000, first_step=400)
    diagnose_run(run.id)

    assert finding(run).body["since_step"] == since == 10
    assert finding(run).body["judgement"]["first_step"] > 1_000


def test_numbers_that_drift_are_no_history():
    run = live_run()
    diagnose_run(run.id)

    measure_loop(run, count=400, wait_share=0.65, first_step=400)
    diagnose_run(run.id)

    assert told(finding(run)) == ["opened"]


def test_a_change_of_severity_is_added_to_the_history():
    run = live_run(wait_share=0.15, count=1_000)
    diagnose_run(run.id)

    measure_loop(run, count=8_000, wait_share=0.5, first_step=1_000)
    diagnose_run(run.id)

    assert told(finding(run)) == ["opened", "changed"]
    assert finding(run).severity == "critical"


def test_an_open_finding_has_lower_limits():
    run = live_run()
    diagnose_run(run.id)

    measure_loop(run, count=8_000, wait_share=0.08, first_step=400)
    diagnose_run(run.id)

    assert finding(run).is_open


def test_history_does_not_grow_for_ever(monkeypatch):
    monkeypatch.setattr(diagnoses, "LONGEST_HISTORY", 3)
    run = live_run()
    diagnose_run(run.id)
    for _ in range(3):
        Finding.objects.update(is_open=False)
        diagnose_run(run.id)

    assert told(finding(run)) == ["opened"] * 3


def test_each_stage_has_a_diagnosis_of_its_own():
    run = measured_run()
    measure_loop(run, stage="infer", wait_share=0.0)
    finish(run)

    diagnose_run(run.id)

    by_stage = dict(Diagnosis.objects.values_list("stage__name", "healthy"))
    assert D1 in by_stage["infer"]
    assert D1 not in by_stage["train"]


def test_a_stage_that_measured_nothing_is_unanswered():
    run = measured_run()
    write_values(run, {"note": "hello"}, stage="report")

    diagnose_run(run.id)

    diagnosis = Diagnosis.objects.get(run=run, stage__name="report")
    assert diagnosis.window_start is None
    assert set(diagnosis.unanswered) >= {D1, D2, D3}


def test_a_run_in_the_trash_is_left_alone():
    run = measured_run()
    Run.objects.filter(id=run.id).update(trashed_at=run.created_at)

    diagnose_run(run.id)

    assert not Diagnosis.objects.exists()


def test_a_run_that_is_gone_is_no_error():
    run = measured_run()
    run_id = run.id
    Run.objects.filter(id=run_id).delete()

    diagnose_run(run_id)

    assert not Stage.objects.filter(run_id=run_id).exists()


@pytest.fixture
def live_runs(member) -> list[Run]:
    project = make_project(member)
    return [make_run(project, f"live {number}") for number in range(3)]


def test_live_runs_are_those_heard_of_lately(live_runs):
    first, silent, trashed = live_runs
    make_run(first.project, "ended", State.FINISHED)
    Run.objects.filter(id=silent.id).update(
        last_seen_at=timezone.now() - timedelta(seconds=91)
    )
    Run.objects.filter(id=trashed.id).update(trashed_at=timezone.now())

    assert runs_to_diagnose() == [first.id]


def test_the_live_runs_that_waited_longest_are_diagnosed_next(live_runs, monkeypatch):
    first, second, third = live_runs
    diagnose_run(second.id)
    diagnose_run(third.id)

    assert runs_to_diagnose() == [first.id, second.id, third.id]

    monkeypatch.setattr(diagnoses, "LIVE_AT_ONCE", 1)
    diagnose_run(first.id)
    assert runs_to_diagnose() == [second.id]


def test_a_diagnosis_that_fails_keeps_no_other_run_waiting(live_runs, monkeypatch):
    failing, *others = live_runs
    request_work(failing.id, WorkKind.DIAGNOSE)
    work = Work.objects.get(run=failing, kind=WorkKind.DIAGNOSE)
    fail_work(claim_work(work.id), RuntimeError("no such luck"))

    assert set(runs_to_diagnose()) == {run.id for run in others}
