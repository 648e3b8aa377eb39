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
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from django.db import DEFAULT_DB_ALIAS, OperationalError, connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper

from tracker.server.statements import database, using

if TYPE_CHECKING:
    from tracker.embedded.sqlite.base import DatabaseWrapper

Result = TypeVar("Result")
# One batch that is slow makes all wait that share its commit.
MAX_TOGETHER = 16


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
    """Threads of which one writes, and the others sleep until their work is done.

    Each is woken once: were they to queue for the turn, whoever comes next would wait
    until all whose work is done have looked.
    """

    def __init__(self) -> None:
        # Over who writes. The queue needs none for those who take from it.
        self._lock = Lock()
        self._is_somebody_at_work = False
        self._waiting: deque[_Job[Any]] = deque()

    def committed(self, work: Callable[[], Result]) -> Result:
        job = _Job(work)
        with self._lock:
            self._waiting.append(job)
            has_turn = not self._is_somebody_at_work
            self._is_somebody_at_work = True
        if not has_turn:
            self._wait(job)
        if not job.is_done:
            try:
                self._carry_out_next()
            finally:
                self._pass_turn_on()
        return job.result()

    def _wait(self, job: _Job[Any]) -> None:
        """Return once the job is done, or this thread has the turn and it comes next."""
        try:
            job.wait()
        except BaseException:
            # It ends this very thread, which must not be given the turn.
            with self._lock:
                has_turn = job.is_woken() and not job.is_done
                if job in self._waiting:
                    self._waiting.remove(job)
            if has_turn:
                self._pass_turn_on()
            raise

    def _pass_turn_on(self) -> None:
        with self._lock:
            self._is_somebody_at_work = bool(self._waiting)
            if self._waiting:
                self._waiting[0].wake()

    def _carry_out_next(self) -> None:
        jobs = self._joined_by_those_who_wait([])
        try:
            with _lent_to_this_thread(self._connection):
                spoiled = self._carry_out(jobs, self._joined_by_those_who_wait)
                if spoiled:
                    # Savepoints would spare the others this, and cost all of them more.
                    for job in jobs:
                        job.error = None
                        self._carry_out([job])
        except BaseException as error:
            # It ends this very thread.
            for job in jobs:
                job.fail(error)
            raise
        finally:
            for job in jobs:
                job.is_done = True
                job.wake()

    def _carry_out(
        self,
        jobs: list[_Job[Any]],
        joined: Callable[[list[_Job[Any]]], object] | None = None,
    ) -> bool:
        """Carry out the jobs, and those that join them meanwhile, and commit once.

        Return whether one of several failed, so that nothing came of the others, either.
        """
        try:
            with self._connection.plain_transaction():
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

    def _joined_by_those_who_wait(self, jobs: list[_Job[Any]]) -> list[_Job[Any]]:
        while self._waiting and len(jobs) < MAX_TOGETHER:
            jobs.append(self._waiting.popleft())
        return jobs

    @cached_property
    def _connection(self) -> DatabaseWrapper:
        connection = connections.create_connection(DEFAULT_DB_ALIAS)
        connection.inc_thread_sharing()  # never two threads at once: they take turns
        return cast("DatabaseWrapper", connection)  # as `committed` has seen to it


class _Job(Generic[Result]):
    def __init__(self, work: Callable[[], Result]) -> None:
        self._work = work
        self._outcome: list[Result] = []
        self.error: Exception | None = None
        self.is_done = False
        # Held until somebody wakes whoever waits.
        self._sleep = Lock()
        self._sleep.acquire()

    def wait(self) -> None:
        self._sleep.acquire()

    def wake(self) -> None:
        self._sleep.release()

    def is_woken(self) -> bool:
        return not self._sleep.locked()

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
