"""Copies uploaded files from the training process into the spool.

The call only opens the file or copies data from memory; a separate thread does the rest
and then logs the file's attribute. A file is stored once it is copied, soon after the
call; callers that need this certainty wait.
"""

from __future__ import annotations

import mimetypes
import struct
import threading
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path

from seamark.errors import AgentError, shown
from seamark.lifecycle.background import Background
from seamark.path import clean_path
from seamark.queue.blobs import Blob, Blobs, Changed
from seamark.queue.buffer import SetFile
from seamark.recording.attributes import Recorder
from seamark.recording.file_contents import BINARY, Content, Job, Place, to_content
from seamark.recording.file_jobs import report_not_waited_for
from seamark.recording.file_patterns import matching, printable_path
from seamark.recording.path_types import Kind
from seamark.recording.records import IMAGE, Record
from seamark.user_warnings import Notices

# Limit of queued data in memory: figures, images, arrays, bytes.
CAPACITY_BYTES = 64 * 1024 * 1024
# Queued open files; each uses a descriptor that the training may need.
_MAX_OPEN = 256
LARGEST_SET = 10_000  # files
_IDLE_SECONDS = 60.0
# A waiting caller continues after this long without progress.
_STALLED_SECONDS = 10.0
# How long copied files may wait to be logged in one batch.
_REPORT_SECONDS = 1.0
# Independent of the system's files, which differ between machines.
_types = mimetypes.MimeTypes()


class _Interrupted(Exception):
    """The process ends, and the copy takes too long."""


class Files:
    """The thread that copies files into the spool, and its queue."""

    def __init__(
        self,
        recorder: Recorder,
        spool: Path,
        notices: Notices,
        *,
        write: Callable[[], bool],
        sync: Callable[[], None],
        most_bytes: int,
    ) -> None:
        """Create it; `write` writes the recorder's data to the spool now, if possible.

        `sync` waits until that survives a crash of the machine; raises OSError.
        """
        self._recorder = recorder
        self._buffer = recorder.buffer
        self._notices = notices
        self._write = write
        self._sync = sync
        self._blobs = Blobs(
            spool,
            most_bytes=most_bytes,
            progress=self._note_progress,
            is_hurried=self._is_hurried,
        )
        self._jobs: deque[Job] = deque()
        self._buffered_bytes = 0
        # Re-entrant, because a signal handler may upload while its thread counts.
        self._counting = threading.RLock()
        self._is_busy = False
        self._doing: Job | None = None
        self._moved_at = time.monotonic()
        # Copied but not yet logged files, and the time of the first.
        self._copied: list[SetFile | Record] = []
        self._copied_at = 0.0
        # The deadline for copies once the run ends.
        self._ends_at: float | None = None
        # Paths copied since then, with their job numbers: earlier jobs may still
        # follow.
        self._copied_at_end: dict[str, int] = {}
        self.background = Background("seamark-files", self.turn)

    @property
    def is_done(self) -> bool:
        return not self._jobs and not self._is_busy

    def put(self, job: Job) -> None:
        """Queue a job, or warn that the queue is full; wait for it if it is awaited."""
        content = job.content
        if content is not None and not self._is_room(content):
            content.close()
            self._lose(
                job,
                "files waiting",
                f"{shown(job.path)} is not stored, and others may not be: files are logged"
                " faster than they can be written",
            )
            job.is_done.set()
            return
        self._jobs.append(job)
        self.background.ensure()
        self.background.wake()
        if job.is_awaited:
            self.wait_for(job)

    def wait_for(self, job: Job) -> None:
        """Return when a job is done, or when there is no progress."""
        self._moved_at = time.monotonic()
        while not job.is_done.wait(0.1):
            if time.monotonic() - self._moved_at > _STALLED_SECONDS:
                report_not_waited_for(
                    self._notices, job, f"no progress for {_STALLED_SECONDS:g} s"
                )
                return
            if not self.background.is_alive:
                report_not_waited_for(
                    self._notices, job, "the copy thread is not running"
                )
                return

    def turn(self) -> float:
        """Process the queue; return the seconds until the next turn."""
        while self._jobs and not self._is_late:
            # In this order, so that `is_done` is never true in between.
            self._is_busy = True
            job = self._doing = self._next()
            try:
                self._do(job)
            except _Interrupted:
                # Jobs in memory come first, because they exist nowhere else. This one
                # is repeated later, before other jobs for its path.
                self._jobs.appendleft(job)
            except BaseException:
                self._let_go(job)
                raise
            else:
                self._let_go(job)
        self._is_busy = False
        return _IDLE_SECONDS

    def go_on_in(self, spool: Path) -> None:
        """Copy into another spool's folder from now on."""
        self._blobs.go_on_in(spool)

    def finish(self, seconds: float) -> None:
        """Process the queue for up to `seconds`; the rest is dropped with a warning."""
        self._ends_at = time.monotonic() + seconds
        if not self.is_done:
            self.background.ensure()
            self.background.wake()
            while not self.is_done and self.background.is_alive and not self._is_late:
                time.sleep(0.01)
        self.background.stop(0.1)
        # The current job either hangs in the file system or is about to be put back
        # into the queue. Reading it before the queue catches both cases.
        doing = self._doing if self._is_busy else None
        waiting = [self._jobs.popleft() for _ in range(len(self._jobs))]
        for job in waiting:
            self._count_lost(job)
            job.problem = f"{shown(job.path)} is not stored: the run has ended"
            self._let_go(job)
        left = [
            job
            for job in waiting
            if job.content is None or not self._is_outdated(job.path, job)
        ]
        if doing is not None and doing not in waiting:
            left.append(doing)
        if left:
            self._notices.warn(
                "files left",
                f"{len(left)} files could not be copied within the {seconds:.0f} s exit"
                f" timeout and are not stored, including {shown(left[0].path)};"
                " upload them again, with wait=True or a larger SEAMARK_EXIT_SECONDS (what is copied and not"
                " yet delivered, `seamark sync` delivers)",
            )

    @property
    def _is_late(self) -> bool:
        return self._ends_at is not None and time.monotonic() > self._ends_at

    def _is_hurried(self) -> bool:
        """Return whether syncing would risk losing queued jobs for certain."""
        if self._ends_at is not None:
            return True
        if self._doing is not None and self._doing.is_awaited:
            return False
        is_much = self._buffered_bytes > CAPACITY_BYTES // 2
        return len(self._jobs) > _MAX_OPEN // 2 or (is_much and bool(self._jobs))

    def _next(self) -> Job:
        """Take the oldest job; at the end, the oldest one that is only in memory."""
        if self._ends_at is not None:
            for job in list(self._jobs):
                if _is_in_memory(job):
                    self._jobs.remove(job)
                    return job
        return self._jobs.popleft()

    def _is_outdated(self, path: str, job: Job) -> bool:
        """Return whether a later job for the path was copied already."""
        return self._copied_at_end.get(path, -1) > job.number

    def _let_go(self, job: Job) -> None:
        if job.content is not None:
            job.content.close()
            self._count(-job.content.buffered_bytes)
        job.is_done.set()

    def _is_room(self, content: Content) -> bool:
        with self._counting:
            total = self._buffered_bytes + content.buffered_bytes
            # A single large content is accepted: it is in memory already.
            if (
                content.buffered_bytes
                and self._buffered_bytes
                and total > CAPACITY_BYTES
            ):
                return False
            if content.descriptor is not None and len(self._jobs) >= _MAX_OPEN:
                return False
            self._buffered_bytes = total
            return True

    def _count(self, buffered_bytes: int) -> None:
        with self._counting:
            self._buffered_bytes += buffered_bytes

    def _note_progress(self) -> None:
        """Called repeatedly by the thread while it works on a job."""
        self._moved_at = time.monotonic()
        is_due = self._copied and self._moved_at > self._copied_at + _REPORT_SECONDS
        if is_due and self._doing is not None:
            self._report_copied(self._doing)
        if self._doing is not None and _is_in_memory(self._doing):
            # It exists only in memory, so it is always completed.
            return
        if self._is_late or (
            self._ends_at is not None and any(map(_is_in_memory, list(self._jobs)))
        ):
            raise _Interrupted

    def _count_lost(self, job: Job) -> None:
        if job.place is not None:
            self._buffer.count_dropped(1)

    def _lose(self, job: Job, cause: str, why: str) -> None:
        """Warn once per cause that a part of a job is not stored."""
        self._count_lost(job)
        job.problem = job.problem or why
        # A waiting caller may delete the file, so it always gets the warning.
        self._notices.warn(f"{cause} {job.number}" if job.is_awaited else cause, why)

    def _do(self, job: Job) -> None:
        self._note_progress()
        try:
            if job.content is not None:
                self._keep(job.path, job.content, job)
            else:
                if job.found is None:
                    job.found = self._found(job)
                self._keep_found(job, job.found)
        finally:
            self._report_copied(job)
        self._make_safe(job)

    def _make_safe(self, job: Job) -> None:
        """Write a job's log entries, and sync them if the job is awaited."""
        try:
            is_written = self._write()
            if job.is_awaited:
                self._sync()
        except OSError:
            # The writer reports its own errors.
            is_written = False
        if not is_written and not job.problem:
            job.problem = (
                f"{shown(job.path)} is copied, but its offline queue cannot be written"
            )

    def _keep_found(self, job: Job, found: deque[tuple[str, Path]]) -> None:
        while found:
            self._note_progress()
            path, file = found[0]
            try:
                content = to_content(file, fallback="file", name=None, media_type=None)
            except AgentError as error:
                self._refuse(job, error, path)
            else:
                try:
                    self._keep(path, content, job)
                finally:
                    content.close()
            # Only now: an interrupted file is copied again.
            found.popleft()

    def _keep(self, path: str, content: Content, job: Job) -> None:
        if self._is_outdated(path, job):
            return
        try:
            if content.descriptor is not None:
                blob = self._blobs.keep_file(content.descriptor)
            else:
                data = content.data()
                # Encoding a large picture is slow.
                self._note_progress()
                blob = self._blobs.keep(data)
        except _Interrupted:
            raise
        except Changed:
            self._lose(
                job,
                f"changed {shown(path)}",
                f"{shown(path)} is not stored: the file keeps changing;"
                " upload it once it is complete",
            )
            return
        except OSError as error:
            self._lose_copy(job, path, error)
            return
        except Exception as error:  # noqa: BLE001 - foreign code: an image's encoder
            self._lose(
                job,
                f"content {shown(path)}",
                f"{shown(path)} is not stored: it cannot be encoded"
                f" ({type(error).__name__})",
            )
            return
        media_type = content.media_type or _guessed(content.name)
        if job.place is not None:
            self._put_record(job, blob, media_type, job.place)
            return
        self._note_copied(
            SetFile(path, blob.digest, blob.size, media_type, content.name)
        )
        if self._ends_at is not None:
            self._copied_at_end[path] = job.number

    def _put_record(self, job: Job, blob: Blob, media_type: str, place: Place) -> None:
        path = job.path
        if place.kind == IMAGE and not media_type.startswith("image/"):
            self._lose(
                job,
                f"image {shown(path)}",
                f"the content of {shown(path)} is not an image",
            )
            return
        value = struct.pack("<32sQ", bytes.fromhex(blob.digest), blob.size)
        value += media_type.encode()
        if place.details:
            value += b"\0" + place.details
        self._note_copied(Record(place.kind, path, place.step, place.time, value))

    def _note_copied(self, change: SetFile | Record) -> None:
        if not self._copied:
            self._copied_at = time.monotonic()
        self._copied.append(change)

    def _report_copied(self, job: Job) -> None:
        """Log the copied files once their contents survive a power failure."""
        copied, self._copied = self._copied, []
        if not copied:
            return
        try:
            # Once per job or second: for each of 10,000 small files it would take as
            # long as syncing its content.
            self._blobs.sync()
        except OSError as error:
            for change in copied:
                self._lose_copy(job, change.path, error)
            return
        # Bypasses the recorder, which accepts nothing once the run ends.
        for change in copied:
            if isinstance(change, Record):
                self._buffer.put_record(change)
            else:
                self._buffer.put(change)

    def _lose_copy(self, job: Job, path: str, error: OSError) -> None:
        self._lose(
            job,
            f"files {error.errno}",
            f"{shown(path)} is not stored, and others may not be: it cannot be copied"
            f" into {self._blobs.folder} ({error})",
        )

    def _found(self, job: Job) -> deque[tuple[str, Path]]:
        """Return the files of a set with their paths in the run."""
        found: deque[tuple[str, Path]] = deque()
        names = matching(job.pattern, job.folder, progress=self._note_progress)
        for name, file in names:
            if len(found) >= LARGEST_SET:
                self._lose(
                    job,
                    f"set {shown(job.path)}",
                    f"{shown(job.pattern)} matches more than {LARGEST_SET:,} files; the"
                    " others are not stored",
                )
                return found
            path = f"{job.path}/{printable_path(name)}"
            try:
                cleaned = clean_path(path)
                self._recorder.claim(cleaned, Kind.FILE)
            except AgentError as error:
                self._refuse(job, error, path)
                continue
            found.append((cleaned, file))
        if not found:
            self._lose(
                job, f"set {shown(job.path)}", f"{shown(job.pattern)} matches no file"
            )
        return found

    def _refuse(self, job: Job, error: AgentError, path: str) -> None:
        self._recorder.warn_refused(error, path)
        job.problem = job.problem or str(error)


def _is_in_memory(job: Job) -> bool:
    return job.content is not None and job.content.descriptor is None


def _guessed(name: str) -> str:
    found, encoding = _types.guess_type(name, strict=False)
    return BINARY if found is None or encoding is not None else found.lower()
