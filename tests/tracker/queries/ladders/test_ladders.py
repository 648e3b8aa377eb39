"""A ladder with the measurements of its runs."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from tests.builders import make_member, make_project, make_run, write_values
from tests.diagnoses import NOW
from tests.ladder_runs import DEMO, NOTES, Job, make_measured_run
from tracker.actions.ladders import RungRequest, create_ladder
from tracker.models import Run
from tracker.queries.ladders.ladders import ladder_summaries, read_ladder
from tracker.queries.ladders.verdicts import NOT_ENOUGH_STEPS, Verdict

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture
def project():
    return make_project(make_member("ada"))


def ladder_of(project, *runs, notes=None, name="faster"):
    notes = notes or [""] * len(runs)
    rung_requests = [
        RungRequest(str(run.id), note) for run, note in zip(runs, notes, strict=True)
    ]
    return create_ladder(project, name, rung_requests)


def read_jobs(project, *jobs, **options):
    runs = [make_measured_run(project, job) for job in jobs]
    name = "-".join(job.name for job in jobs)
    return read_ladder(ladder_of(project, *runs, name=name), **options)


@pytest.fixture
def demo(project):
    runs = [make_measured_run(project, job) for job in DEMO]
    return read_ladder(ladder_of(project, *runs, notes=NOTES))


def test_tells_what_each_rung_was_worth(demo):
    _, decoded, workers, batch = demo.rungs

    assert decoded.against_previous.ratio == pytest.approx(90 / 42, rel=0.02)
    assert workers.against_previous.ratio == pytest.approx(42 / 31, rel=0.02)
    assert batch.against_baseline.ratio == pytest.approx(90 / 16 * 64 / 114, rel=0.02)
    assert {rung.against_previous.verdict for rung in demo.rungs[1:]} == {
        Verdict.FASTER
    }


def test_sums_the_climb_up(demo):
    assert demo.climb.sentence.startswith("baseline → larger batch: 3.")
    assert "the biggest step was “decoded ahead” (2.1" in demo.climb.sentence


def test_the_baseline_is_compared_with_nothing(demo):
    baseline = demo.rungs[0]

    assert baseline.against_previous is baseline.against_baseline is None
    assert (baseline.params, baseline.why_no_change, baseline.predicted) == (
        (),
        "",
        None,
    )


def test_names_the_parameters_that_changed(demo):
    changes = [[change.path for change in rung.params] for rung in demo.rungs]

    assert changes == [
        [],
        ["params/decoded_ahead"],
        ["params/workers"],
        ["params/batch_size"],
    ]


def test_shows_the_utilization_and_the_parts_of_a_step(demo):
    step = demo.rungs[0].breakdown

    assert step.parts[0].name == "data wait"
    assert sum(part.seconds for part in step.parts) == pytest.approx(0.09, rel=0.02)
    assert step.cpu_percent == pytest.approx(50, rel=0.01)
    assert demo.rungs[0].gpu_count == 0


def test_shows_the_quality_before_and_after(demo):
    assert demo.quality_path == "train/accuracy_on_test"
    assert [rung.quality.value for rung in demo.rungs] == [0.95, 0.951, 0.949, 0.957]
    assert demo.rungs[1].quality_before.value == 0.95


def test_predicts_by_the_diagnosis_of_the_rung_before(demo):
    predicted = demo.rungs[1].predicted

    assert predicted.rule == "too-few-loader-workers"
    assert 1 < predicted.likely <= predicted.bound


def test_tells_which_findings_went(demo):
    gone = {finding.rule for finding in demo.rungs[2].findings.gone}

    assert "too-few-loader-workers" in gone


def test_tells_what_of_the_promise_was_kept(demo):
    assert demo.rungs[0].outcome is None
    assert [rung.predicted.is_fixed for rung in demo.rungs[1:3]] == [False, True]
    assert demo.rungs[2].outcome is not None


def test_compares_what_was_learned(project):
    shown = read_jobs(project, DEMO[1], DEMO[2])

    assert shown.rungs[0].learned is None
    learned = shown.rungs[1].learned
    assert learned.path == "train/loss"
    assert learned.at_equal_examples.change == pytest.approx(0.0)
    assert not shown.rungs[1].is_faster_but_worse


def test_faster_but_worse_is_pointed_out(project):
    shown = read_jobs(
        project, DEMO[2], Job("batch-64", wait_seconds=0.001, batch_size=64, loss=0.6)
    )

    assert shown.rungs[1].against_previous.verdict is Verdict.FASTER
    assert shown.rungs[1].is_faster_but_worse


def test_says_what_is_left_to_gain(demo, project):
    assert demo.left is not None
    short = read_jobs(project, Job("other", steps=20))
    assert short.left is None or not short.left.advises_stop


def test_a_verdict_from_few_steps_is_rough(project):
    shown = read_jobs(project, DEMO[0], Job("short", steps=100, wait_seconds=0.01))

    assert shown.rungs[1].against_previous.is_rough
    enough = read_jobs(project, DEMO[1], DEMO[2]).rungs[1].against_previous
    assert not enough.is_rough


def test_another_stage_and_quality_can_be_asked_for(project):
    shown = read_jobs(project, DEMO[0], stage="train", quality="train/loss")

    assert (shown.stage, shown.quality_path) == ("train", "train/loss")
    assert set(shown.quality_paths) == {"train/accuracy_on_test", "train/loss"}


@pytest.mark.parametrize("unknown", ["nothing", "a\0b", "x" * 5_000])
def test_an_unknown_stage_or_quality_is_guessed(project, unknown):
    shown = read_jobs(project, DEMO[0], stage=unknown, quality=unknown)

    assert (shown.stage, shown.quality_path) == ("train", "train/accuracy_on_test")


def test_a_run_too_short_to_judge_has_the_reason(project):
    shown = read_jobs(project, DEMO[0], Job("short", steps=20))

    assert shown.rungs[1].against_previous is None
    assert shown.rungs[1].why_no_change == NOT_ENOUGH_STEPS
    assert shown.climb is None


def test_a_run_without_anything_has_unknowns_and_no_zeros(project):
    empty = make_run(project, "empty")
    shown = read_ladder(ladder_of(project, make_measured_run(project, DEMO[0]), empty))

    rung = shown.rungs[1]
    assert rung.breakdown is rung.gpu_count is rung.quality is None
    assert rung.why_no_change == NOT_ENOUGH_STEPS
    assert not rung.is_diagnosed


def test_runs_without_known_examples_compare_by_steps(project):
    shown = read_jobs(
        project,
        Job("a", counts_examples=False),
        Job("b", counts_examples=False, wait_seconds=0.015),
    )

    assert shown.rungs[1].breakdown.examples_per_second is None
    assert shown.rungs[1].against_previous.ratio == pytest.approx(2.0, rel=0.02)


def test_another_machine_is_pointed_out(project):
    shown = read_jobs(project, DEMO[0], Job("elsewhere", host="node-2"))

    (change,) = shown.rungs[1].machine
    assert (change.path, change.before, change.after) == (
        "facts/host",
        "node-1",
        "node-2",
    )


def test_a_running_run_has_taken_until_now(project):
    run = make_run(project, "live")
    shown = read_ladder(
        ladder_of(project, run), now=run.started_at + timedelta(seconds=90)
    )

    assert shown.may_go_on
    assert shown.rungs[0].total_seconds == 90
    assert shown.rungs[0].stages[0].seconds == 90


def test_a_rung_that_was_not_heard_of_for_a_while_is_silent(project):
    runs = [make_run(project, "ended", "finished"), make_run(project, "runs")]
    Run.objects.update(last_seen_at=timezone.now() - timedelta(minutes=5))
    ladder = ladder_of(project, *runs)

    for rungs in (read_ladder(ladder).rungs, ladder_summaries(project.id)[0].rungs):
        ended, running = (rung.silent_for for rung in rungs)
        assert ended is None
        assert running >= timedelta(minutes=5)


def test_a_run_in_the_trash_leaves_its_ladder(project):
    runs = [make_run(project, name) for name in ("a", "b")]
    ladder = ladder_of(project, *runs)
    Run.objects.filter(id=runs[0].id).update(trashed_at=NOW)

    assert [rung.run_name for rung in read_ladder(ladder).rungs] == ["b"]
    (rung,) = ladder_summaries(project.id)[0].rungs
    assert (rung.label, rung.state) == ("b", "running")


def test_lists_a_project_s_ladders_the_newest_first(project, django_assert_num_queries):
    run = make_run(project, "a", "finished")
    ladder_of(project, run, name="first")
    ladder_of(project, run, name="second")

    with django_assert_num_queries(2):
        summaries = ladder_summaries(project.id)

    assert [summary.name for summary in summaries] == ["second", "first"]
    assert not summaries[0].is_live


def test_as_many_queries_for_a_thousand_attributes_as_for_few(
    project, django_assert_max_num_queries
):
    runs = [make_measured_run(project, job) for job in DEMO[:2]]
    ladder = ladder_of(project, *runs)
    with django_assert_max_num_queries(54) as before:
        read_ladder(ladder)

    write_values(runs[0], {f"params/p{number}": number for number in range(1_000)})
    with django_assert_max_num_queries(len(before)):
        assert len(read_ladder(ladder).rungs[1].params) == 1_001
