from __future__ import annotations

from datetime import timedelta
from uuid import UUID

import pytest

from tests.ladder_runs import Job, make_measured_run
from tracker.actions.deletions import delete_made
from tracker.actions.diagnoses import diagnoses
from tracker.actions.diagnoses.diagnoses import diagnose_run
from tracker.actions.ladders import RungRequest, create_ladder
from tracker.models import Diagnosis, Finding, Ladder, Run, Stage
from tracker.queries.ladders import recoveries as module
from tracker.queries.ladders.ladders import read_ladder
from tracker.queries.ladders.recoveries import read_pairs, recoveries

pytestmark = [pytest.mark.django_db, pytest.mark.database]

D1 = "data-wait-dominates"
WAITS = Job("baseline")
CURED = Job("cured", wait_seconds=0.001, workers=2, cpu_cores=1.5)


def ladder(project, *jobs: Job) -> list[Run]:
    runs = [make_measured_run(project, job) for job in jobs]
    create_ladder(project, "faster", [RungRequest(str(run.id)) for run in runs])
    return runs


def saved(rule: str = D1) -> list[float]:
    return [fixed.pair.saved for fixed in read_pairs() if fixed.pair.rule == rule]


def test_a_finding_that_is_gone_on_the_next_rung_is_a_pair(project):
    before, _ = ladder(project, WAITS, CURED)

    (fixed,) = (found for found in read_pairs() if found.pair.rule == D1)
    pair = fixed.pair

    assert fixed.run_id == before.id
    # 60 of 90 ms were waiting, of which 1 ms remains.
    assert pair.promised == pytest.approx(2 / 3, abs=0.01)
    assert pair.saved == pytest.approx(59 / 90, abs=0.01)


def test_an_unfixed_finding_is_no_pair(project):
    ladder(project, WAITS, Job("as-before"))

    assert saved() == []


def test_nothing_is_learned_from_a_ladder_in_the_trash(project, member):
    ladder(project, WAITS, CURED)

    delete_made(Ladder.objects.get(), user_id=member.user_id)

    assert saved() == []


def test_nothing_is_learned_across_a_rung_between(project):
    _, between, _ = ladder(project, WAITS, Job("odd"), CURED)
    # A running run is not shown on the ladder.
    Run.objects.filter(id=between.id).update(state="running")

    assert saved() == []


def test_nothing_is_learned_between_different_machines(project):
    _, after = ladder(project, WAITS, CURED)
    path = "monitoring/train/facts/effective_cores"
    after.attributes.filter(path=path).update(number=64.0)

    assert saved() == []


def test_nothing_is_learned_where_only_one_counts_its_examples(project):
    _, after = ladder(project, WAITS, CURED)
    Diagnosis.objects.filter(run=after).update(examples_per_second=None)

    assert saved() == []


def learn() -> None:
    """Expire the cache."""
    module._kept.pairs = None


def test_a_later_run_uses_earlier_fixes_and_names_them(project):
    usual = gain_of(make_measured_run(project, Job("first")))
    ladder(project, WAITS, CURED)

    assert gain_of(make_measured_run(project, Job("third"))) == usual

    learn()
    learned = gain_of(make_measured_run(project, Job("later")))
    assert learned["bound"] == pytest.approx(usual["bound"], rel=0.01)
    assert learned["likely"] > usual["likely"]
    assert "1 earlier fix on this server" in learned["basis"]


def test_the_prediction_of_a_baseline_does_not_move_with_its_own_ladder(
    project, monkeypatch
):
    runs = ladder(project, WAITS, Job("as-before"), CURED)
    predicted = [gain_of(run) for run in runs[:2]]
    learn()

    # The same rules, newer rules, and newer data each trigger a new diagnosis.
    for version in ("now", "newer"):
        monkeypatch.setattr(diagnoses, "rules_version", lambda _, v=version: v)
        for run in runs:
            diagnose_run(run.id)

    assert [gain_of(run) for run in runs[:2]] == predicted
    (rung,) = read_ladder(Ladder.objects.get()).rungs[2:]
    assert rung.predicted.likely == predicted[1]["likely"]


def test_no_run_learns_from_another_step_of_its_own_ladder(project):
    runs = ladder(project, WAITS, CURED, Job("third"))
    learn()

    assert all(D1 not in recoveries(but=run.id) for run in runs)
    assert recoveries(but=UUID(int=0))[D1].pairs == 1


def test_two_runs_on_two_ladders_are_one_pair(project):
    runs = ladder(project, WAITS, CURED)
    create_ladder(project, "again", [RungRequest(str(run.id)) for run in runs])

    assert len(saved()) == 1


@pytest.mark.parametrize(("ratio", "is_learned"), [(1.09, True), (1.05, False)])
def test_differences_within_the_noise_teach_nothing(project, ratio, is_learned):
    before, after = ladder(project, WAITS, CURED)
    rate = Diagnosis.objects.get(run=before).examples_per_second
    Diagnosis.objects.filter(run=after).update(examples_per_second=ratio * rate)

    assert bool(saved()) == is_learned


def test_few_steps_teach_nothing(project):
    _, after = ladder(project, WAITS, CURED)
    Diagnosis.objects.filter(run=after).update(step_count=149)

    assert saved() == []


def test_nothing_is_learned_where_two_causes_have_gone(project):
    before, after = ladder(project, WAITS, CURED)
    cause = Finding.objects.filter(run=before, is_primary=True).get()
    cause.pk, cause.rule, cause.is_primary = None, "checkpoints-take-long", False
    cause.save()
    judged = Diagnosis.objects.get(run=after)
    judged.healthy = [*judged.healthy, "checkpoints-take-long"]
    judged.save()

    assert read_pairs() == []


def test_fixes_that_were_measured_after_a_run_say_nothing_about_it(project):
    _, after = ladder(project, WAITS, CURED)
    learn()

    known = recoveries(but=UUID(int=0), until=after.ended_at)
    unknown = recoveries(but=UUID(int=0), until=after.ended_at - timedelta(seconds=1))

    assert known[D1].pairs == 1
    assert D1 not in unknown


def test_a_late_first_diagnosis_learns_from_no_fix_measured_after_the_run(project):
    run = make_measured_run(project, Job("alone"))
    usual = gain_of(run)
    _, cured = ladder(project, WAITS, CURED)
    later = Stage.objects.get(run=run).ended_at + timedelta(seconds=1)
    Run.objects.filter(id=cured.id).update(ended_at=later)
    learn()
    Finding.objects.filter(run=run).delete()
    Diagnosis.objects.filter(stage__run=run).delete()

    diagnose_run(run.id)

    assert gain_of(run) == usual


def test_a_repeated_diagnosis_of_the_same_data_keeps_the_prediction(project):
    run = make_measured_run(project, Job("alone"))
    predicted = gain_of(run)
    # Measured before the end of the run, and put on a ladder afterwards.
    ladder(project, WAITS, CURED)
    learn()
    ended_at = Stage.objects.get(run=run).ended_at
    assert recoveries(but=run.id, until=ended_at)[D1].pairs == 1

    diagnose_run(run.id)

    assert gain_of(run) == predicted


def test_a_resumed_run_gets_a_new_prediction(project):
    run = make_measured_run(project, Job("resumed"))
    usual = gain_of(run)
    ladder(project, WAITS, CURED)
    learn()
    Stage.objects.filter(run=run).update(state="running", ended_at=None)

    diagnose_run(run.id)

    assert gain_of(run)["likely"] > usual["likely"]


def test_is_read_with_few_statements_and_seldom(project, django_assert_num_queries):
    ladder(project, WAITS, CURED)
    module._kept.pairs = None

    with django_assert_num_queries(4):
        recoveries(but=UUID(int=0))
    with django_assert_num_queries(0):
        recoveries(but=UUID(int=0))


def gain_of(run: Run) -> dict:
    found = Finding.objects.get(run=run, rule=D1)
    return found.body["judgement"]["finding"]["gain"]
