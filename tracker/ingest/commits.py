"""Commits the batches of several threads at once, where only one can write anyway.

On SQLite, whoever writes has the others of its process wait, and much of that time goes
into commits. So whoever gets its turn takes along what has come to wait meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Lock
from typing import Any, Generic, TypeVar

from django.db import OperationalError, transaction

from tracker.statements import database

Result = TypeVar("Result")
# One batch that is slow makes all wait that share its commit.
MOST_TOGETHER = 16


def committed(work: Callable[[], Result]) -> Result:
    """Return what `work` does in a transaction, once that is committed.

    It may be carried out by another thread, so it must not look at its own. Whatever
    it raises undoes its own changes alone.
    """
    connection = database()
    if connection.vendor == "sqlite" and not connection.in_atomic_block:
        return _group.committed(work)
    with transaction.atomic():
        return work()


class Group:
    def __init__(self) -> None:
        self._turn = Lock()
        self._lock = Lock()
        self._waiting: list[_Job[Any]] = []

    def committed(self, work: Callable[[], Result]) -> Result:
        job = _Job(work)
        with self._lock:
            self._waiting.append(job)
        with self._turn:
            while not job.is_done:
                self._carry_out_next()
        return job.result()

    def _carry_out_next(self) -> None:
        with self._lock:
            jobs = self._waiting[:MOST_TOGETHER]
            del self._waiting[:MOST_TOGETHER]
        try:
            _carry_out(jobs)
        except BaseException as error:
            for job in jobs:
                job.fail(error)
            if not isinstance(error, Exception):
                raise  # it ends this very thread
        finally:
            for job in jobs:
                job.is_done = True


class _Job(Generic[Result]):
    def __init__(self, work: Callable[[], Result]) -> None:
        self._work = work
        self._outcome: list[Result] = []
        self.error: Exception | None = None
        self.is_done = False

    def carry_out(self, *, is_alone: bool) -> None:
        if is_alone:
            self._outcome = [self._work()]
            return
        try:
            with transaction.atomic():
                self._outcome = [self._work()]
        except Exception as error:  # noqa: BLE001 - raised where the work came from
            self.error = error

    def fail(self, error: BaseException) -> None:
        """Note that nothing was committed, whatever came of the work itself."""
        if not isinstance(error, Exception):
            error = OperationalError("the thread that wrote for others was ended")
        self.error = self.error or error

    def result(self) -> Result:
        if self.error is not None:
            raise self.error
        return self._outcome[0]


def _carry_out(jobs: Sequence[_Job[Any]]) -> None:
    with transaction.atomic():
        for job in jobs:
            job.carry_out(is_alone=len(jobs) == 1)
            if transaction.get_rollback():
                # SQLite gave up all of it, as it does when the disk is full.
                raise OperationalError("the transaction was lost")


_group = Group()
