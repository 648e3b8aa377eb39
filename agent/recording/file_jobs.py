"""Hands files to the thread that copies them, which may just be starting."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

from seamark.errors import shown
from seamark.recording.file_contents import Job
from seamark.user_warnings import Notices

if TYPE_CHECKING:
    from seamark.recording.files import Files

# Of one that another thread is starting: it takes a few milliseconds.
_MAX_EARLY = 64
_START_SECONDS = 1.0


class FileJobs:
    """What was asked for, until the thread is there."""

    def __init__(self, notices: Notices, *, count_lost: Callable[[], None]) -> None:
        """`count_lost` counts a record of a series that will not be stored."""
        self._notices = notices
        self._count_lost = count_lost
        self._files: Files | None = None
        self._early: deque[Job] = deque()

    def begin(self, files: Files | None) -> None:
        """Hand over what waits, and all that follows."""
        self._files = files
        self._hand_over()

    def end(self) -> None:
        """Take nothing more; what was never handed over is lost, which is said."""
        self._files = None
        while self._early:
            self._lose(self._early.popleft(), "nothing could be started to copy it")

    def start_anew(self) -> None:
        """Forget, in a forked child, what the parent will store."""
        self._files = None
        while self._early:
            _close(self._early.popleft())

    def put(self, job: Job) -> None:
        """Have a file stored; wait for it only if that is asked for."""
        if job.content is not None and job.content.note:
            self._notices.warn(
                "picture", f"picture {shown(job.path)}: {job.content.note}"
            )
        files = self._files
        if files is not None:
            # Another thread may have begun only now: what came before goes first.
            self._hand_over()
            files.put(job)
            return
        if len(self._early) >= _MAX_EARLY:
            self._lose(job, "files are logged faster than the run can start")
            return
        self._early.append(job)
        # It may have come in between.
        self._hand_over()
        if job.is_awaited:
            self._wait(job)

    def _hand_over(self) -> None:
        while (files := self._files) is not None:
            try:
                job = self._early.popleft()
            except IndexError:
                return
            files.put(job)

    def _wait(self, job: Job) -> None:
        # Not for ever: it may be this thread that starts it, within a signal handler.
        deadline = time.monotonic() + _START_SECONDS
        while self._files is None and time.monotonic() < deadline:
            time.sleep(0.001)
        if self._files is not None:
            self._files.wait_for(job)
        else:
            say_not_waited_for(self._notices, job, "the run is still starting")

    def _lose(self, job: Job, why: str) -> None:
        _close(job)
        if job.place is not None:
            self._count_lost()
        job.problem = f"{shown(job.path)} is not stored, as others may be: {why}"
        self._notices.warn("files early", job.problem)


def say_not_waited_for(notices: Notices, job: Job, why: str) -> None:
    """Say that whoever asked to wait for a job goes on before it is done."""
    # Unless it is, just now, or was given up, which was said.
    if not job.is_done.is_set():
        notices.warn(
            f"not waited for: {why}",
            f"{shown(job.path)} is not copied yet and no longer waited for, as others may"
            f" be: {why}; what is uploaded must stay as it is until it can be copied",
        )


def _close(job: Job) -> None:
    if job.content is not None:
        job.content.close()
    job.is_done.set()
