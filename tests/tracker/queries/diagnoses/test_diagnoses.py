from __future__ import annotations

from dataclasses import replace
from uuid import uuid4

import pytest

from tests.builders import write_values
from tests.tracker.queries.measured import finish, measure_loop, measured_run
from tracker.actions.diagnoses.diagnoses import diagnose_run
from tracker.diagnosis.engine.judgement import Label
from tracker.diagnosis.rules import RULES
from tracker.models import Diagnosis, Finding, Run, State
from tracker.queries.diagnoses.diagnoses import (
    StageDiagnosis,
    diagnoses_of,
    main_findings,
)

pytestmark = [pytest.mark.django_db, pytest.mark.database]

D1, D2, D3 = (
    "data-wait-dominates",
    "preprocessing-is-cpu-bound",
    "too-few-loader-workers",
)


@pytest.fixture
def run() -> Run:
    run = measured_run()
    diagnose_run(run.id)
    return run


def only(run: Run) -> StageDiagnosis:
    (diagnosis,) = diagnoses_of(run)
    return diagnosis


def test_symptoms_are_folded_under_the_primary_cause(run):
    (cause,) = only(run).findings

    assert (cause.rule, cause.is_primary) == (D3, True)
    assert [symptom.rule for symptom in cause.symptoms] == [D2]
    assert [symptom.rule for symptom in cause.symptoms[0].symptoms] == [D1]


def test_a_finding_says_everything_a_page_shows(run):
    (cause,) = only(run).findings

    assert cause.title == "Not enough data-loader workers"
    assert cause.label is Label.CONFIRMED
    assert cause.factors.persistence == 1.0
    assert cause.gain is not None
    assert cause.gain.bound > cause.gain.likely > 1.0
    assert cause.recommendations[0].current == "0 workers"
    assert "Pool(" in cause.recommendations[0].code
    assert {evidence.unit for evidence in cause.evidence} >= {"share", "cores"}
    assert (cause.since_step, cause.first_step, cause.last_step) == (10.0, 10.0, 399.0)
    assert [entry.what for entry in cause.history] == ["opened"]


def test_the_window_can_be_shaded(run):
    diagnosis = only(run)

    assert diagnosis.window is not None
    assert diagnosis.window.seconds == pytest.approx(39.0)
    assert diagnosis.step_count == 390
    assert diagnosis.findings[0].window == diagnosis.window


def test_only_findings_of_short_runs_are_held_back(run):
    (cause,) = only(run).findings

    assert not cause.is_held_back
    assert replace(cause, confidence=0.74).is_held_back


def test_rules_that_do_not_apply_say_what_the_stage_is_without(run):
    needs = {rule.name: rule.needs for rule in only(run).not_applicable}

    assert needs["gpu-is-slowed-by-heat"] == "a GPU"
    assert needs["faster-but-worse"] == "an earlier run to compare with"


def test_rules_about_gpus_do_not_apply_without_one(run):
    names = {rule.name for rule in only(run).not_applicable}
    about_gpus = {rule.name for rule in RULES if rule.is_about_gpus}

    assert "gpu-memory-is-nearly-full" in names
    assert not about_gpus & {rule.name for rule in only(run).unanswered}


def test_healthy_rules_are_named_in_words():
    run = measured_run(wait_share=0.0)
    diagnose_run(run.id)

    assert "Training waits for data" in [rule.title for rule in only(run).healthy]


def test_unanswered_rules_say_which_line_would_answer():
    run = measured_run()
    write_values(run, {"note": "hello"}, stage="report")
    diagnose_run(run.id)

    report = next(found for found in diagnoses_of(run) if found.stage == "report")
    waits = next(rule for rule in report.unanswered if rule.name == D1)

    assert [lack.signal for lack in waits.lacks] == [
        "step_seconds",
        "data_wait_seconds",
    ]
    assert waits.lacks[0].code == "for batch in run.loader(loader):"
    assert waits.needs == (
        "wall time of one step; time waiting for the batch, part of the step's wall time"
    )


def test_a_missing_input_that_is_not_a_signal_is_described():
    run = measured_run(count=30)
    diagnose_run(run.id)

    waits = next(rule for rule in only(run).unanswered if rule.name == D1)

    assert waits.lacks[0].description.startswith("60 seconds")
    assert waits.lacks[0].code == ""


def test_cleared_findings_are_listed_separately():
    run = measured_run(state=State.RUNNING)
    diagnose_run(run.id)
    measure_loop(run, count=18_000, wait_share=0.0, first_step=400)
    diagnose_run(run.id)

    diagnosis = only(run)

    assert diagnosis.findings == []
    assert {found.rule for found in diagnosis.cleared} == {D1, D2, D3}
    assert all(found.cleared_at for found in diagnosis.cleared)


def test_a_rule_that_no_longer_exists_keeps_its_name(run):
    Diagnosis.objects.update(healthy=["forgotten-rule"], failed=["broken-rule"])

    assert [rule.title for rule in only(run).healthy] == ["forgotten-rule"]
    assert [rule.name for rule in only(run).failed] == ["broken-rule"]


def test_stages_come_in_the_order_they_began():
    run = measured_run()
    measure_loop(run, stage="a-later-one")
    finish(run)
    run.stages.filter(name="a-later-one").update(started_at=run.last_seen_at)
    diagnose_run(run.id)

    assert [found.stage for found in diagnoses_of(run)] == ["train", "a-later-one"]


def test_a_run_that_was_not_diagnosed_has_none():
    assert diagnoses_of(measured_run()) == []


def test_reads_a_run_with_two_queries(run, django_assert_num_queries):
    with django_assert_num_queries(2):
        diagnoses_of(run)


def test_the_main_finding_is_the_primary_one(run):
    healthy = measured_run("healthy", wait_share=0.0)
    diagnose_run(healthy.id)

    found = main_findings([run.id, healthy.id, uuid4()])

    assert set(found) == {run.id}
    assert found[run.id].title == "Not enough data-loader workers"
    assert found[run.id].stage == "train"


def test_the_worst_stage_gives_the_main_finding(run):
    measure_loop(run, stage="infer", wait_share=0.15)
    finish(run)
    diagnose_run(run.id)
    assert Finding.objects.filter(run=run, is_primary=True).count() == 2

    assert main_findings([run.id])[run.id].stage == "train"


def test_a_possible_finding_is_not_the_main_one_next_to_a_likely_one(run):
    measure_loop(run, stage="infer", wait_share=0.15)
    finish(run)
    diagnose_run(run.id)
    Finding.objects.filter(run=run, stage__name="train").update(confidence=0.35)
    Finding.objects.filter(run=run, stage__name="infer").update(confidence=0.6)

    assert main_findings([run.id])[run.id].stage == "infer"


def test_main_findings_of_many_runs_are_one_query(run, django_assert_num_queries):
    with django_assert_num_queries(1):
        main_findings([run.id, uuid4()])
