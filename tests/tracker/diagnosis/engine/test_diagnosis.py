from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.tracker.diagnosis.stages import (
    GIB,
    SECOND,
    START,
    finding_of,
    loading_by_itself,
    loading_in_workers,
    readings,
    rules_of,
    samples,
    stage,
    steps,
    steps_in_epochs,
)
from tracker.diagnosis.engine.diagnosis import diagnose
from tracker.diagnosis.engine.finding import (
    NO_EARLIER_RUN,
    NO_GPU,
    NO_REQUESTS,
    NO_STAGE_BEFORE,
    ONE_PROCESS,
    TOO_SHORT,
    Evidence,
    Finding,
    Severity,
)
from tracker.diagnosis.engine.judgement import Label, label_of
from tracker.diagnosis.engine.measurements import Measurements
from tracker.diagnosis.engine.rule import Rule, Span
from tracker.diagnosis.signals import Tracked

D1, D2, D3 = (
    "data-wait-dominates",
    "preprocessing-is-cpu-bound",
    "too-few-loader-workers",
)


def rule_with(check, *, span=Span.STEADY) -> Rule:
    return Rule(
        group="C",
        number=1,
        name="made-for-this-test",
        title="Something is wrong",
        check=check,
        needs=("step_seconds",),
        may_use=(),
        hears_state=False,
        span=span,
        explanation="",
        limit_values=None,
    )


def some_finding(**fields) -> Finding:
    return Finding(
        **{
            "summary": "It is.",
            "severity": Severity.WARNING,
            "evidence": (),
            "recommendations": (),
            "disproof": "",
            **fields,
        }
    )


def waiting_in(windows: list[bool], *, share: float = 0.5) -> Measurements:
    """Five minutes, in each of which steps wait or do not."""
    waits = np.repeat(np.where(windows, share, 0.0), 60)
    return stage(step_rows=steps(total=1.0, waiting=waits, count=len(waits)))


def open_in(measurements: Measurements, *, was_open: bool = False) -> bool:
    known = {(D1, "")} if was_open else set()
    # Still running, so that the windows are the last five minutes.
    return D1 in rules_of(diagnose(measurements, open_findings=known, has_ended=False))


def test_a_process_that_loads_by_itself_needs_workers_first():
    diagnosis = diagnose(loading_by_itself())

    assert [(f.rule, f.explained_by) for f in diagnosis.findings] == [
        (D3, ""),
        (D2, D3),
        (D1, D2),
    ]
    assert diagnosis.findings[0].is_primary


def test_without_free_cores_the_preprocessing_itself_is_the_cause():
    diagnosis = diagnose(loading_in_workers(4, cores=4.0, busy=0.9))

    assert rules_of(diagnosis) == [D2, D1]
    assert D3 in diagnosis.healthy


def test_waiting_of_unknown_cause_stands_alone():
    diagnosis = diagnose(loading_in_workers(4, busy=0.5))

    assert rules_of(diagnosis) == [D1]
    assert diagnosis.findings[0].is_primary


def test_a_run_that_hardly_waits_is_never_accused():
    for measurements in (
        loading_by_itself(wait_share=0.05),
        loading_in_workers(2, wait_share=0.05, cores=2.0),
        loading_in_workers(8, wait_share=0.02),
    ):
        assert rules_of(diagnose(measurements)) == []


def test_names_the_signals_that_a_rule_lacks():
    unanswered = diagnose(stage()).unanswered

    assert unanswered["preprocessing-is-cpu-bound"] == (
        "job_cpu_cores",
        "effective_cores",
    )


def test_rules_about_gpus_do_not_apply_where_there_is_none():
    diagnosis = diagnose(stage(gpus=0))

    assert diagnosis.unanswered["gpu-memory-is-nearly-full"] == (NO_GPU,)


def test_rules_about_gpus_lack_their_signals_if_the_gpu_count_is_unknown():
    diagnosis = diagnose(replace(stage(gpus=0), gpu_count=None))

    assert diagnosis.unanswered["gpu-memory-is-nearly-full"] == (
        "gpu_memory_used_bytes",
        "gpu_memory_total_bytes",
    )


def test_each_gpu_is_judged_by_itself():
    healthy = stage(gpus=2)
    full = stage(gpus=1, gpu_memory=78 * GIB).gpus[0]

    diagnosis = diagnose(replace(healthy, gpus={0: healthy.gpus[0], 3: full}))

    found = [f.scope for f in diagnosis.findings if f.rule.endswith("nearly-full")]
    assert found == ["gpu/3"]


@pytest.mark.parametrize(
    ("count", "is_judged"),
    [pytest.param(60, True, id="enough"), pytest.param(59, False, id="too short")],
)
def test_judges_no_run_with_less_than_fifty_steps_after_warm_up(count, is_judged):
    diagnosis = diagnose(loading_by_itself(count=count))

    assert (D1 in rules_of(diagnosis)) == is_judged
    assert (diagnosis.unanswered.get(D1) == (TOO_SHORT,)) != is_judged


def test_judges_few_steps_that_take_more_than_a_minute():
    rows = steps(total=3.0, waiting=1.5, count=35)

    assert rules_of(diagnose(stage(step_rows=rows))) == [D1]


def test_confirms_nothing_of_a_short_run():
    short = finding_of(diagnose(loading_by_itself(count=100)), D1)
    long = finding_of(diagnose(loading_by_itself(count=400)), D1)

    assert label_of(short.confidence) is Label.LIKELY
    assert label_of(long.confidence) is Label.CONFIRMED


def test_is_less_sure_of_steps_that_never_settle():
    rows = steps(total=np.geomspace(0.1, 1.0, 300))
    rows.columns["data_wait_seconds"][:] = 0.6 * rows.columns["step_seconds"]

    unsteady = diagnose(stage(step_rows=rows))

    assert unsteady.steady is not None
    assert not unsteady.steady.is_steady
    assert finding_of(unsteady, D1).persistence == pytest.approx(0.8)


@pytest.mark.parametrize(
    ("windows", "was_open", "is_open"),
    [
        pytest.param([1, 0, 1, 0, 1], False, True, id="opens with three of five"),
        pytest.param([1, 0, 1, 0, 0], False, False, id="not with two"),
        pytest.param([1, 0, 1, 0, 0], True, True, id="stays open with two"),
        pytest.param([1, 0, 0, 0, 0], True, False, id="clears with one"),
    ],
)
def test_enters_and_leaves_at_different_shares_of_windows(windows, was_open, is_open):
    measurements = waiting_in([True, *map(bool, windows)])

    assert open_in(measurements, was_open=was_open) == is_open


def test_an_open_finding_clears_below_the_lower_limit_only():
    assert not open_in(waiting_in([True] * 6, share=0.08))
    assert open_in(waiting_in([True] * 6, share=0.08), was_open=True)
    assert not open_in(waiting_in([True] * 6, share=0.05), was_open=True)


def test_a_live_stage_is_judged_by_its_last_five_minutes():
    measurements = waiting_in([False] * 30 + [True] * 5)

    assert D1 in rules_of(diagnose(measurements, has_ended=False))
    assert D1 not in rules_of(diagnose(measurements, has_ended=True))


def test_says_which_window_and_steps_it_judged():
    judgement = finding_of(diagnose(loading_by_itself(count=100)), D1)

    # With blocks of ten steps, the first block is warm-up.
    assert (judgement.first_step, judgement.last_step) == (10.0, 99.0)
    assert judgement.window.seconds == pytest.approx(9.0)


def test_a_rule_that_breaks_hides_no_other(caplog):
    def check(**_):
        raise ZeroDivisionError

    healthy = replace(rule_with(lambda **_: None), name="healthy")
    diagnosis = diagnose(stage(), rules=[rule_with(check), healthy])

    assert diagnosis.failed == ("made-for-this-test",)
    assert diagnosis.healthy == ("healthy",)
    assert "ZeroDivisionError" in caplog.text


def test_a_number_that_is_not_finite_never_reaches_a_reader(caplog):
    evidence = Evidence("step_seconds", "mean", float("nan"), "s")
    rule = rule_with(lambda **_: some_finding(evidence=(evidence,)))

    diagnosis = diagnose(stage(), rules=[rule])

    assert diagnosis.failed == ("made-for-this-test",)
    assert "not finite" in caplog.text


def test_a_finding_of_little_confidence_is_silent():
    rule = rule_with(lambda **_: some_finding(quality=0.4, margin=0.5))

    diagnosis = diagnose(stage(), rules=[rule])

    assert diagnosis.findings == ()


def test_a_rule_about_the_whole_stage_sees_its_warm_up():
    seen = []
    rule = rule_with(
        lambda step_seconds: seen.append(len(step_seconds)), span=Span.STAGE
    )

    diagnose(stage(step_rows=steps(count=300)), rules=[rule])

    assert seen == [300]


def test_the_title_of_a_finding_may_differ_from_its_rules():
    rule = rule_with(lambda **_: some_finding(title="It will be wrong"))

    assert diagnose(stage(), rules=[rule]).findings[0].title == "It will be wrong"


def test_a_stage_without_steps_is_judged_by_its_readings():
    measurements = Measurements(
        samples={"job_cpu_cores": readings(1.0, seconds=120)},
        facts={"effective_cores": 4.0},
        gpus={0: {"gpu_utilization_percent": readings(0.0, seconds=120)}},
        gpu_count=1,
    )

    diagnosis = diagnose(measurements)

    assert rules_of(diagnosis) == ["gpu-reserved-during-cpu-stage"]
    assert diagnosis.unanswered[D1] == ("step_seconds", "data_wait_seconds")


def test_readings_of_the_warm_up_do_not_count():
    # The start uses every core for eight of thirty seconds.
    cpu = np.where(np.arange(30) < 8, 4.0, 1.0)
    measurements = loading_by_itself(cores=4.0)
    measurements = replace(
        measurements, samples={**measurements.samples, "job_cpu_cores": samples(cpu)}
    )

    diagnosis = diagnose(measurements)

    assert diagnosis.findings[0].rule == D3
    used = next(
        e for e in diagnosis.findings[0].finding.evidence if "median" in e.statistic
    )
    assert used.value == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("rule", "why"),
    [
        ("faster-but-worse", NO_EARLIER_RUN),
        ("ranks-scale-poorly", ONE_PROCESS),
        ("one-rank-is-slow", ONE_PROCESS),
        ("there-is-a-gap-between-stages", NO_STAGE_BEFORE),
        ("model-is-loaded-per-request", NO_REQUESTS),
    ],
)
def test_rules_about_another_kind_of_stage_say_so(rule, why):
    alone = stage(facts={"logging_ranks": 1.0})

    assert diagnose(alone).unanswered[rule] == (why,)


@pytest.mark.parametrize(("step_seconds", "is_judged"), [(0.04, False), (0.2, True)])
def test_a_stage_of_a_few_seconds_is_never_healthy(step_seconds, is_judged):
    measured = stage(step_rows=steps(total=step_seconds, count=100))

    diagnosis = diagnose(measured)

    assert not diagnosis.findings
    assert bool(diagnosis.healthy) == is_judged
    assert ((TOO_SHORT,) in diagnosis.unanswered.values()) != is_judged


def test_a_stage_of_a_few_seconds_may_have_findings():
    waiting = stage(step_rows=steps(total=0.05, waiting=0.03, count=100))
    shorter = stage(step_rows=steps(total=0.02, waiting=0.012, count=100))

    assert D1 in rules_of(diagnose(waiting))
    assert not diagnose(shorter).findings


def test_a_hint_about_waiting_is_left_out_where_nothing_waits():
    hint = some_finding(only_beside=("the-cause",))

    assert not diagnose(stage(), rules=[rule_with(lambda step_seconds: hint)]).findings


def test_a_lost_loss_is_found_without_any_other_measurement():
    values = np.array([2.0, 1.0, *[np.nan] * 4])
    times = START + np.arange(len(values)) * SECOND
    loss = Tracked(np.arange(len(values), dtype=np.float64), times, values)

    diagnosis = diagnose(Measurements(losses={"train/loss": loss}))

    assert [found.rule for found in diagnosis.findings] == ["loss-is-not-a-number"]


def test_findings_about_steps_count_for_the_time_in_steps():
    # 50 steps of 0.1 s, and 15 s between epochs.
    rows = steps_in_epochs([50] * 8, gap=15.0, waiting=0.08)

    diagnosis = diagnose(
        stage(
            step_rows=rows,
            sampled={"job_cpu_cores": 1.0},
            facts={"loader_workers": 2.0, "loader_persistent_workers": 0.0},
        )
    )

    shares = {found.rule: found.time_share for found in diagnosis.findings}
    assert shares["data-wait-dominates"] < 0.35
    assert shares["epochs-begin-slowly"] == 1.0
