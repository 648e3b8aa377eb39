"""Group commit: one transaction for the batches of several threads.

On SQLite, one thread writes at a time, and much of that time goes into commits. The
thread whose turn it is therefore executes all waiting jobs. All use one connection: a
connection's page cache is invalid after another one has written.
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
# A slow batch delays all that share its commit.
MAX_TOGETHER = 16


def committed(work: Callable[[], Result]) -> Result:
    """Return the result of `work` in a transaction, after its commit.

    `work` may run in another thread, so it must not use thread-local state, and may run
    again if another job in its transaction failed. An exception rolls back only its own
    changes.
    """
    connection = database()
    if connection.vendor == "sqlite" and not connection.in_atomic_block:
        return _group.committed(work)
    with transaction.atomic():
        return work()


class Group:
    """Threads of which one writes, while the others sleep until their job is done.

    Each thread is woken once: if they queued for a lock instead, the next writer would
    wait until all finished threads have checked it.
    """

    def __init__(self) -> None:
        # Guards the turn to write. The queue needs no lock.
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
        """Return when the job is done, or when this thread has the turn and its job is
        next.
        """
        try:
            job.wait()
        except BaseException:
            # The exception ends this thread, which must not keep the turn.
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
        jobs = self._join_waiting([])
        try:
            with _lent_to_this_thread(self._connection):
                spoiled = self._carry_out(jobs, self._join_waiting)
                if spoiled:
                    # Savepoints would avoid this, but cost more in every transaction.
                    for job in jobs:
                        job.error = None
                        self._carry_out([job])
        except BaseException as error:
            # The exception ends this thread.
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
        """Run the jobs, and those that join meanwhile, and commit once.

        Return whether one of several failed, so that all were rolled back.
        """
        try:
            with self._connection.plain_transaction():
                for job in jobs:  # grows as others join
                    job.carry_out()
                    if joined is not None:
                        joined(jobs)
        except Exception as error:  # noqa: BLE001 - raised in result()
            is_of_one = any(job.error for job in jobs)
            for job in jobs:
                job.fail(error)
            return is_of_one and len(jobs) > 1
        return False

    def _join_waiting(self, jobs: list[_Job[Any]]) -> list[_Job[Any]]:
        while self._waiting and len(jobs) < MAX_TOGETHER:
            jobs.append(self._waiting.popleft())
        return jobs

    @cached_property
    def _connection(self) -> DatabaseWrapper:
        connection = connections.create_connection(DEFAULT_DB_ALIAS)
        connection.inc_thread_sharing()  # shared, but used by one thread at a time
        return cast("DatabaseWrapper", connection)  # checked in `committed`


class _Job(Generic[Result]):
    def __init__(self, work: Callable[[], Result]) -> None:
        self._work = work
        self._outcome: list[Result] = []
        self.error: Exception | None = None
        self.is_done = False
        # Locked until wake() is called.
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
        """Record that nothing was committed, whatever the job's own result."""
        if not isinstance(error, Exception):
            error = OperationalError("the writing thread was terminated")
        self.error = self.error or error

    def result(self) -> Result:
        if self.error is not None:
            raise self.error
        return self._outcome[0]


def _expect_a_transaction() -> None:
    if transaction.get_rollback():
        # SQLite rolled back everything, for example because the disk is full.
        raise OperationalError("the transaction was rolled back")


@contextmanager
def _lent_to_this_thread(connection: BaseDatabaseWrapper) -> Iterator[None]:
    try:
        with using(connection):
            yield
    finally:
        # The thread's own connection is restored in any case.
        connection.close_if_unusable_or_obsolete()


_group = Group()
