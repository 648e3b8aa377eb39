from __future__ import annotations

import threading
from datetime import timedelta

import pytest
from django.db import connection
from django.db.models import F
from django.utils import timezone

from tests.builders import make_project, make_run
from tracker import tasks
from tracker.actions.work import (
    ERROR_LENGTH,
    LONGEST_RETRY_SECONDS,
    claim_work,
    due_work_ids,
    fail_work,
    finish_work,
    request_work,
    request_works,
)
from tracker.models import Work, WorkKind

pytestmark = [pytest.mark.django_db, pytest.mark.database, pytest.mark.postgresql]


@pytest.fixture
def run(member):
    run = make_run(make_project(member))
    Work.objects.all().delete()
    return run


@pytest.fixture
def work_id(run):
    request_work(run.id, WorkKind.COMPACT)
    return Work.objects.get().id


def let_pass(seconds: float) -> None:
    """Move stored times into the past, as if the time had passed."""
    for name in ("due_at", "leased_until"):
        Work.objects.update(**{name: F(name) - timedelta(seconds=seconds)})


def seconds_until_due() -> float:
    due_at = Work.objects.get().due_at
    assert due_at is not None
    return (due_at - timezone.now()).total_seconds()


def test_requested_work_is_due(work_id):
    assert due_work_ids(10) == [work_id]


def test_asking_twice_is_asking_once(run, work_id):
    request_work(run.id, WorkKind.COMPACT)

    assert due_work_ids(10) == [work_id]


def test_the_earliest_of_several_requests_counts(run):
    request_work(run.id, WorkKind.DIAGNOSE, delay_seconds=60)
    assert due_work_ids(10) == []

    request_work(run.id, WorkKind.DIAGNOSE, delay_seconds=5)
    request_work(run.id, WorkKind.DIAGNOSE, delay_seconds=30)

    assert seconds_until_due() == pytest.approx(5, abs=1)


def test_kinds_of_work_are_asked_for_apart(run, work_id):
    request_work(run.id, WorkKind.DIAGNOSE)

    assert len(due_work_ids(10)) == 2
    assert len(due_work_ids(1)) == 1


def test_a_claim_says_what_to_do(run, work_id):
    claim = claim_work(work_id)

    assert claim is not None
    assert (claim.run_id, claim.kind, claim.attempts) == (run.id, "compact", 1)


def test_only_one_worker_gets_it(work_id):
    assert claim_work(work_id)

    assert claim_work(work_id) is None
    assert due_work_ids(10) == []


def test_work_that_is_not_due_is_not_claimed(run):
    request_work(run.id, WorkKind.COMPACT, delay_seconds=60)

    assert claim_work(Work.objects.get().id) is None
    assert claim_work(0) is None


def test_finished_work_is_not_due(work_id):
    claim = claim_work(work_id)
    finish_work(claim)

    assert due_work_ids(10) == []
    assert claim_work(work_id) is None


def test_a_request_that_comes_while_work_is_under_way_is_not_lost(run, work_id):
    claim = claim_work(work_id)
    request_work(run.id, WorkKind.COMPACT)
    assert claim_work(work_id) is None

    finish_work(claim)

    assert due_work_ids(10) == [work_id]


def test_a_request_during_work_keeps_its_delay(run, work_id):
    claim = claim_work(work_id)
    request_work(run.id, WorkKind.COMPACT, delay_seconds=15)
    finish_work(claim)

    assert seconds_until_due() == pytest.approx(15, abs=1)


def test_work_of_a_killed_worker_is_due_again(work_id):
    first = claim_work(work_id)
    let_pass(61)

    assert due_work_ids(10) == [work_id]
    second = claim_work(work_id)
    assert second.attempts == 2

    # The first worker was only slow, and no longer holds the lease.
    finish_work(first)
    fail_work(first, RuntimeError())
    work = Work.objects.get()
    assert work.leased_until == second.leased_until
    assert work.last_error == ""


def test_failed_work_is_tried_again_later_each_time(work_id):
    waits = []
    for _ in range(12):
        fail_work(claim_work(work_id), RuntimeError("broken"))
        waits.append(round(seconds_until_due()))
        let_pass(LONGEST_RETRY_SECONDS)

    assert waits[:4] == [2, 4, 8, 16]
    assert waits[-1] == LONGEST_RETRY_SECONDS
    assert Work.objects.get().last_error == "RuntimeError: broken"


def test_new_requests_do_not_hurry_work_that_failed(run, work_id):
    fail_work(claim_work(work_id), RuntimeError("broken"))

    request_work(run.id, WorkKind.COMPACT)

    assert due_work_ids(10) == []
    assert seconds_until_due() == pytest.approx(2, abs=1)


def test_success_forgets_earlier_failures(work_id):
    fail_work(claim_work(work_id), RuntimeError("broken"))
    let_pass(10)
    finish_work(claim_work(work_id))

    work = Work.objects.get()
    assert (work.attempts, work.last_error) == (0, "")


def test_an_error_that_quotes_hostile_names_is_stored(work_id):
    fail_work(claim_work(work_id), RuntimeError("nul \0 half \ud800 " + "x" * 9_999))

    stored = Work.objects.get().last_error
    assert stored.startswith("RuntimeError: nul \N{REPLACEMENT CHARACTER} half ? xxx")
    assert len(stored) == ERROR_LENGTH


def test_work_of_a_deleted_run_is_gone(run, work_id):
    claim = claim_work(work_id)
    run.delete()

    finish_work(claim)
    fail_work(claim, RuntimeError())
    assert due_work_ids(10) == []


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("kind", WorkKind)
def test_work_for_a_run_that_is_gone_is_not_asked_for(run, kind):
    run_id = run.id
    run.delete()

    request_work(run_id, kind)

    assert not Work.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_the_timetable_takes_no_notice_of_runs_that_are_gone(run, monkeypatch):
    gone = run.id
    run.delete()
    monkeypatch.setattr(tasks, "runs_to_diagnose", lambda: [gone])
    monkeypatch.setattr(tasks, "compact_run", lambda run_id: 1)

    tasks.request_live_diagnoses()
    tasks.compact(gone)

    assert not Work.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_exactly_one_of_many_workers_claims_the_work(work_id):
    claims = []
    start = threading.Barrier(8)

    def claim():
        try:
            start.wait(timeout=30)
            claims.append(claim_work(work_id))
        finally:
            connection.close()

    threads = [threading.Thread(target=claim) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=30)

    assert len(claims) == 8
    assert sum(claim is not None for claim in claims) == 1


@pytest.fixture
def many(member):
    project = make_project(member, "many")
    runs = [make_run(project, f"run-{number}").id for number in range(5)]
    Work.objects.all().delete()
    return runs


def test_many_runs_are_asked_for_at_once(many):
    request_works(many, WorkKind.COMPACT)

    assert {work.run_id for work in Work.objects.filter(id__in=due_work_ids(10))} == {
        *many
    }


def test_requesting_work_that_already_waits_writes_nothing(
    many, monkeypatch, django_assert_num_queries
):
    monkeypatch.setattr("tracker.actions.work.RUNS_AT_ONCE", 3)
    request_works(many, WorkKind.DIAGNOSE, delay_seconds=5)

    with django_assert_num_queries(2):
        request_works(many, WorkKind.DIAGNOSE, delay_seconds=6)


def test_work_under_way_is_asked_for_again_with_the_others(many):
    request_works(many, WorkKind.COMPACT)
    claim = claim_work(due_work_ids(1)[0])
    assert claim is not None

    request_works(many, WorkKind.COMPACT)
    finish_work(claim)

    assert len(due_work_ids(10)) == 5


def test_the_earliest_of_several_requests_counts_for_each_of_many(many):
    request_works(many, WorkKind.DIAGNOSE, delay_seconds=60)

    request_works(many[:2], WorkKind.DIAGNOSE)

    assert len(due_work_ids(10)) == 2


def test_work_that_failed_waits_for_its_retry_whoever_else_is_asked_for(many):
    request_works(many, WorkKind.COMPACT)
    claim = claim_work(due_work_ids(1)[0])
    assert claim is not None
    fail_work(claim, ValueError("no"))

    request_works(many, WorkKind.COMPACT)

    assert len(due_work_ids(10)) == 4
