"""Passes upload requests to the copy thread, also while it is still starting."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

from seamark.errors import shown
from seamark.recording.file_contents import POINTS, Job
from seamark.user_warnings import Notices

if TYPE_CHECKING:
    from seamark.recording.files import Files

# Requests queued while another thread starts the copy thread, which takes a few
# milliseconds.
_MAX_EARLY = 64
_START_SECONDS = 1.0


class FileJobs:
    """Queues upload requests until the copy thread runs."""

    def __init__(self, notices: Notices, *, count_lost: Callable[[], None]) -> None:
        """Create it; `count_lost` counts a record of a series that will not be stored."""
        self._notices = notices
        self._count_lost = count_lost
        self._files: Files | None = None
        self._early: deque[Job] = deque()

    def begin(self, files: Files | None) -> None:
        """Pass all queued and future requests to the copy thread."""
        self._files = files
        self._hand_over()

    def end(self) -> None:
        """Stop accepting requests; queued ones are lost, with a warning."""
        self._files = None
        while self._early:
            self._lose(self._early.popleft(), "the copy thread could not be started")

    def start_anew(self) -> None:
        """Discard the parent's requests in a forked child."""
        self._files = None
        while self._early:
            _close(self._early.popleft())

    def put(self, job: Job) -> None:
        """Store a file; wait for it only if the job is awaited."""
        if job.content is not None and job.content.note:
            kind = _noun_of(job.content.media_type)
            self._notices.warn(kind, f"{kind} {shown(job.path)}: {job.content.note}")
        files = self._files
        if files is not None:
            # Another thread may have begun only now: earlier requests go first.
            self._hand_over()
            files.put(job)
            return
        if len(self._early) >= _MAX_EARLY:
            self._lose(job, "files are logged faster than the run can start")
            return
        self._early.append(job)
        # The copy thread may have started in between.
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
        # Bounded: this thread may be the one that starts it, interrupted by a signal
        # handler.
        deadline = time.monotonic() + _START_SECONDS
        while self._files is None and time.monotonic() < deadline:
            time.sleep(0.001)
        if self._files is not None:
            self._files.wait_for(job)
        else:
            report_not_waited_for(self._notices, job, "the run is still starting")

    def _lose(self, job: Job, why: str) -> None:
        _close(job)
        if job.place is not None:
            self._count_lost()
        job.problem = f"{shown(job.path)} is not stored, and others may not be: {why}"
        self._notices.warn("files early", job.problem)


def report_not_waited_for(notices: Notices, job: Job, why: str) -> None:
    """Warn that a caller stops waiting for a job before it is done."""
    # Unless it was just done, or was given up with a warning.
    if not job.is_done.is_set():
        notices.warn(
            f"not waited for: {why}",
            f"stopped waiting for {shown(job.path)}, which is not copied yet; others may"
            f" be affected: {why}; leave uploaded files unchanged until they are copied",
        )


def _close(job: Job) -> None:
    if job.content is not None:
        job.content.close()
    job.is_done.set()


def _noun_of(media_type: str) -> str:
    """Return the noun of a value that was changed to be stored."""
    if media_type.startswith("image/"):
        return "picture"
    return "point cloud" if media_type == POINTS else "table"
