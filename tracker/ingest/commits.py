"""Commits the batches of several threads at once, where only one can write anyway.

On SQLite, whoever writes has the others of its process wait, and much of that time goes
into commits. So whoever gets its turn takes along what has come to wait meanwhile. All
write through one connection: what a connection knows of a database's pages is worth
nothing once another one has written.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from threading import Lock
from typing import Any, Generic, TypeVar

from django.db import DEFAULT_DB_ALIAS, OperationalError, connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper

from tracker.statements import database, using

Result = TypeVar("Result")
# One batch that is slow makes all wait that share its commit.
MOST_TOGETHER = 16


def committed(work: Callable[[], Result]) -> Result:
    """Return what `work` does in a transaction, once that is committed.

    It may be carried out by another thread, so it must not look at its own; and once
    more, if what shared its transaction failed. Whatever it raises undoes its own
    changes alone.
    """
    connection = database()
    if connection.vendor == "sqlite" and not connection.in_atomic_block:
        return _group.committed(work)
    with transaction.atomic():
        return work()


class Group:
    def __init__(self) -> None:
        self._turn = Lock()
        # Added to and taken from without a lock, which a deque needs none for.
        self._waiting: deque[_Job[Any]] = deque()

    def committed(self, work: Callable[[], Result]) -> Result:
        job = _Job(work)
        self._waiting.append(job)
        with self._turn:
            while not job.is_done:
                self._carry_out_next()
        return job.result()

    def _carry_out_next(self) -> None:
        jobs = self._joined_by_those_who_wait([])
        try:
            with _lent_to_this_thread(self._connection):
                spoiled = _carry_out(jobs, self._joined_by_those_who_wait)
                if spoiled:
                    # Savepoints would spare the others this, and cost all of them more.
                    for job in jobs:
                        job.error = None
                        _carry_out([job])
        except BaseException as error:
            # It ends this very thread.
            for job in jobs:
                job.fail(error)
            raise
        finally:
            for job in jobs:
                job.is_done = True

    def _joined_by_those_who_wait(self, jobs: list[_Job[Any]]) -> list[_Job[Any]]:
        while self._waiting and len(jobs) < MOST_TOGETHER:
            jobs.append(self._waiting.popleft())
        return jobs

    @cached_property
    def _connection(self) -> BaseDatabaseWrapper:
        connection = connections.create_connection(DEFAULT_DB_ALIAS)
        connection.inc_thread_sharing()  # never two threads at once: they take turns
        return connection


class _Job(Generic[Result]):
    def __init__(self, work: Callable[[], Result]) -> None:
        self._work = work
        self._outcome: list[Result] = []
        self.error: Exception | None = None
        self.is_done = False

    def carry_out(self) -> None:
        try:
            self._outcome = [self._work()]
            _expect_a_transaction()
        except Exception as error:
            self.error = error
            raise

    def fail(self, error: BaseException) -> None:
        """Note that nothing was committed, whatever came of the work itself."""
        if not isinstance(error, Exception):
            error = OperationalError("the thread that wrote for others was ended")
        self.error = self.error or error

    def result(self) -> Result:
        if self.error is not None:
            raise self.error
        return self._outcome[0]


def _carry_out(
    jobs: list[_Job[Any]], joined: Callable[[list[_Job[Any]]], object] | None = None
) -> bool:
    """Carry out the jobs, and those that join them meanwhile, and commit once.

    Return whether one of several failed, so that nothing came of the others, either.
    """
    try:
        with transaction.atomic():
            for job in jobs:  # grows as others join
                job.carry_out()
                if joined is not None:
                    joined(jobs)
    except Exception as error:  # noqa: BLE001 - raised where the work came from
        is_of_one = any(job.error for job in jobs)
        for job in jobs:
            job.fail(error)
        return is_of_one and len(jobs) > 1
    return False


def _expect_a_transaction() -> None:
    if transaction.get_rollback():
        # SQLite gave up all of it, as it does when the disk is full.
        raise OperationalError("the transaction was lost")


@contextmanager
def _lent_to_this_thread(connection: BaseDatabaseWrapper) -> Iterator[None]:
    try:
        with using(connection):
            yield
    finally:
        # The thread has its own again, whatever comes of this.
        connection.close_if_unusable_or_obsolete()


_group = Group()
