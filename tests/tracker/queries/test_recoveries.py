from __future__ import annotations

from uuid import UUID

import pytest

from tests.ladder_runs import Job, make_measured_run
from tracker.actions.deletions import delete_made
from tracker.actions.diagnoses import diagnose_run
from tracker.actions.ladders import WantedRung, create_ladder
from tracker.models import Diagnosis, Finding, Ladder, Run
from tracker.queries import recoveries as module
from tracker.queries.recoveries import read_pairs, recoveries

pytestmark = [pytest.mark.django_db, pytest.mark.database]

D1 = "data-wait-dominates"
WAITS = Job("baseline")
CURED = Job("cured", wait_seconds=0.001, workers=2, cpu_cores=1.5)


def ladder(project, *jobs: Job) -> list[Run]:
    runs = [make_measured_run(project, job) for job in jobs]
    create_ladder(project, "faster", [WantedRung(str(run.id)) for run in runs])
    return runs


def saved(rule: str = D1) -> list[float]:
    return [pair.saved for _, pair in read_pairs() if pair.rule == rule]


def test_a_finding_that_is_gone_on_the_next_rung_is_a_pair(project):
    before, _ = ladder(project, WAITS, CURED)

    ((run_id, pair),) = (found for found in read_pairs() if found[1].rule == D1)

    assert run_id == before.id

    # 60 of 90 ms were waiting, of which 1 ms is left.
    assert pair.promised == pytest.approx(2 / 3, abs=0.01)
    assert pair.saved == pytest.approx(59 / 90, abs=0.01)


def test_what_is_still_there_is_no_pair(project):
    ladder(project, WAITS, Job("as-before"))

    assert saved() == []


def test_nothing_is_learned_from_a_ladder_in_the_trash(project, member):
    ladder(project, WAITS, CURED)

    delete_made(Ladder.objects.get(), user_id=member.user_id)

    assert saved() == []


def test_nothing_is_learned_across_a_rung_between(project):
    _, between, _ = ladder(project, WAITS, Job("odd"), CURED)
    # Its run is gone from the ladder as long as it runs.
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


def test_pairs_move_what_is_expected_and_the_sentence_says_so(project):
    later = make_measured_run(project, Job("later"))
    ladder(project, WAITS, CURED)
    usual = gain_of(later)

    diagnose_run(later.id)

    assert gain_of(later) == usual, "what was learned counts after some minutes"
    module._kept.pairs = None
    diagnose_run(later.id)
    learned = gain_of(later)
    assert learned["bound"] == usual["bound"]
    assert learned["likely"] > usual["likely"]
    assert "1 earlier fix on this server" in learned["basis"]


def test_no_run_learns_from_its_own_fix(project):
    before, _ = ladder(project, WAITS, CURED)
    usual = gain_of(before)
    module._kept.pairs = None

    diagnose_run(before.id)

    assert gain_of(before) == usual


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
