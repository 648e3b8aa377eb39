from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import OperationalError, connection, connections, transaction

from tracker.embedded.sqlite.base import DatabaseWrapper
from tracker.ingest import commits
from tracker.ingest.commits import Group
from tracker.models import Workspace

pytestmark = pytest.mark.django_db(transaction=True)


class Wrong(Exception):
    pass


@pytest.fixture
def group():
    group = Group()
    yield group
    group._connection.close()


def make(slug):
    Workspace.objects.create(name=slug, slug=slug)
    return threading.get_ident()


def all_waiting(group, works):
    """Let the works wait until the first one is done, and return all outcomes."""
    first_is_at_work, all_wait = threading.Event(), threading.Event()

    def first():
        first_is_at_work.set()
        assert all_wait.wait(60)

    def outcome(work):
        try:
            return group.committed(work)
        except Exception as error:  # noqa: BLE001 - an error is an outcome, too
            return error
        finally:
            connection.close()

    with ThreadPoolExecutor(len(works) + 1) as threads:
        begun = threads.submit(outcome, first)
        assert first_is_at_work.wait(60)
        waiting = [threads.submit(outcome, work) for work in works]
        while len(group._waiting) < len(works):
            pass
        all_wait.set()
        begun.result()
        return [one.result() for one in waiting]


def test_those_who_wait_share_one_commit(group):
    slugs = [f"w-{number}" for number in range(5)]

    threads = all_waiting(group, [lambda slug=slug: make(slug) for slug in slugs])

    assert len(set(threads)) == 1
    assert set(Workspace.objects.values_list("slug", flat=True)) == set(slugs)


def test_jobs_that_arrive_during_a_commit_share_the_next_one(group, monkeypatch):
    commits_made = []
    commit = DatabaseWrapper._commit
    monkeypatch.setattr(
        DatabaseWrapper,
        "_commit",
        lambda self: (commits_made.append(self), commit(self)),
    )

    all_waiting(group, [lambda: make("one"), lambda: make("two")])

    assert len(commits_made) == 1


def test_a_commit_is_shared_by_so_many_only(group, monkeypatch):
    monkeypatch.setattr(commits, "MAX_TOGETHER", 2)
    slugs = [f"w-{number}" for number in range(5)]

    all_waiting(group, [lambda slug=slug: make(slug) for slug in slugs])

    assert Workspace.objects.count() == 5


def test_an_error_undoes_what_it_interrupts_and_nothing_else(group):
    def wrong():
        make("wrong")
        raise Wrong

    outcomes = all_waiting(group, [lambda: make("one"), wrong, lambda: make("two")])

    assert [isinstance(outcome, Wrong) for outcome in outcomes] == [False, True, False]
    assert set(Workspace.objects.values_list("slug", flat=True)) == {"one", "two"}


def test_a_transaction_that_is_lost_costs_the_others_nothing(group):
    def lose_the_transaction():
        # SQLite does this by itself when the disk is full.
        connection.connection.rollback()
        raise OperationalError("database or disk is full")

    works = [lambda: make("one"), lose_the_transaction, lambda: make("two")]
    outcomes = all_waiting(group, works)

    assert isinstance(outcomes[1], OperationalError)
    assert "full" in str(outcomes[1])
    assert set(Workspace.objects.values_list("slug", flat=True)) == {"one", "two"}


def test_all_write_through_one_connection(group):
    used = []

    all_waiting(group, [lambda: used.append(connections["default"])] * 3)
    used.append(group.committed(lambda: connections["default"]))

    assert len({id(one) for one in used if one is not None}) == 1
    assert used[0] is not connections["default"]


def test_a_commit_that_fails_is_an_error_to_all_who_share_it(group, monkeypatch):
    def full(_):
        raise OperationalError("database or disk is full")

    monkeypatch.setattr(DatabaseWrapper, "_commit", full)

    outcomes = all_waiting(group, [lambda: make("one"), lambda: make("two")])

    assert [type(outcome) for outcome in outcomes] == [OperationalError] * 2
    assert not Workspace.objects.exists()


def test_each_who_waits_is_woken_and_the_turn_is_passed_on(group, monkeypatch):
    monkeypatch.setattr(commits, "MAX_TOGETHER", 2)
    slugs = [f"w-{number}" for number in range(40)]

    def make_some(of):
        try:
            return [group.committed(lambda slug=slug: make(slug)) for slug in of]
        finally:
            connection.close()

    with ThreadPoolExecutor(5) as threads:
        list(threads.map(make_some, [slugs[first::5] for first in range(5)]))

    assert set(Workspace.objects.values_list("slug", flat=True)) == set(slugs)
    assert not group._is_somebody_at_work


def test_on_commit_callbacks_run_after_the_commit(group):
    seen = []

    def count():
        seen.append(Workspace.objects.count())

    def work():
        with transaction.atomic():  # a savepoint
            make("one")
        transaction.on_commit(count)
        seen.append("at work")

    group.committed(work)

    assert seen == ["at work", 1]


@pytest.mark.parametrize("is_given_the_turn", [False, True])
def test_a_thread_killed_while_waiting_passes_its_turn_on(
    group, is_given_the_turn, monkeypatch
):
    group._is_somebody_at_work = True
    job = commits._Job(lambda: make("one"))
    group._waiting.append(job)

    def ended(self):
        if is_given_the_turn:
            self.wake()
        raise KeyboardInterrupt

    monkeypatch.setattr(commits._Job, "wait", ended)
    with pytest.raises(KeyboardInterrupt):
        group._wait(job)

    assert not group._waiting
    assert group._is_somebody_at_work is not is_given_the_turn


@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_thread_killed_while_writing_wakes_the_waiting_threads(group, place):
    def ended():
        raise KeyboardInterrupt

    works = [lambda: make("one"), lambda: make("two")]
    works.insert(place, ended)
    jobs = [commits._Job(work) for work in works]
    group._waiting.extend(jobs)

    with pytest.raises(KeyboardInterrupt):
        group._carry_out_next()

    assert all(job.is_done for job in jobs)
    for job in jobs:
        with pytest.raises(OperationalError):
            job.result()
    assert not Workspace.objects.exists()
