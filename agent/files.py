"""Takes files from the training and puts them into the spool.

The call only opens the file, or copies what is in memory; a thread of its own does the
rest, and says what the run then holds. A file counts from the moment when it is copied,
soon after the call; who must know when that is waits for it.
"""

from __future__ import annotations

import contextlib
import glob
import mimetypes
import os
import re
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path

from agent.background import Background
from agent.blobs import Blobs, Changed
from agent.buffer import SetFile
from agent.contents import BINARY, Content, Job, printable, to_content
from agent.errors import AgentError, shown
from agent.notices import Notices
from agent.path import clean_path
from agent.recorder import Kind, Recorder

# Of what waits in memory: figures, images, arrays, bytes.
CAPACITY_BYTES = 64 * 1024 * 1024
# Of open files that wait; each is a descriptor that the training may need.
_MOST_OPEN = 256
LARGEST_SET = 10_000  # files
_IDLE_SECONDS = 60.0
# Whoever waits, or ends, goes on once nothing has moved for so long.
_STALLED_SECONDS = 10.0
_WILDCARD = re.compile(r"[*?\[]")
# Known without the files of the system, which say something else on each.
_types = mimetypes.MimeTypes()


class Files:
    """The thread that copies files into the spool, and what waits for it."""

    def __init__(
        self,
        recorder: Recorder,
        spool: Path,
        notices: Notices,
        *,
        write: Callable[[], None],
        most_bytes: int,
    ) -> None:
        """`write` puts what the recorder has into the spool, at once."""
        self._recorder = recorder
        self._buffer = recorder.buffer
        self._notices = notices
        self._write = write
        self._blobs = Blobs(spool, most_bytes=most_bytes, progress=self._note_progress)
        self._jobs: deque[Job] = deque()
        self._held_bytes = 0
        self._counting = threading.Lock()
        self._is_busy = False
        self._moved_at = time.monotonic()
        self.background = Background("seamark-files", self.turn)

    @property
    def is_done(self) -> bool:
        return not self._jobs and not self._is_busy

    def put(self, job: Job, *, wait: bool) -> None:
        """Queue a job, or say that too much waits already."""
        content = job.content
        if content is not None and not self._is_room(content):
            content.close()
            self._notices.warn(
                "files waiting",
                f"{shown(job.path)} is not stored, as others may be: files are logged"
                " faster than they can be written",
            )
            return
        self._jobs.append(job)
        self.background.ensure()
        self.background.wake()
        if wait:
            self._wait(job.is_done.wait)

    def turn(self) -> float:
        """Do what waits, and return when to look again."""
        while self._jobs:
            # In this order, or somebody could think that all is done.
            self._is_busy = True
            job = self._jobs.popleft()
            try:
                self._do(job)
            finally:
                if job.content is not None:
                    job.content.close()
                    self._count(-job.content.held_bytes)
                self._is_busy = bool(self._jobs)
                job.is_done.set()
        return _IDLE_SECONDS

    def finish(self) -> None:
        """Do all that waits, as long as something moves: the rest would be lost."""
        if not self.is_done:
            self.background.ensure()
            self.background.wake()
            self._wait(self._is_done_within)
        self.background.stop(0.1)
        left = [job.path for job in self._jobs]
        if left or self._is_busy:
            self._notices.warn(
                "files left",
                f"{max(1, len(left))} files could not be copied before the end and are"
                f" not stored, {shown(left[0] if left else '')} among them",
            )

    def _is_done_within(self, seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        while not self.is_done and time.monotonic() < deadline:
            time.sleep(0.01)
        return self.is_done

    def _wait(self, is_over: Callable[[float], bool]) -> None:
        self._note_progress()
        while not is_over(0.1):
            is_stalled = time.monotonic() - self._moved_at > _STALLED_SECONDS
            if is_stalled or not self.background.is_alive:
                return

    def _is_room(self, content: Content) -> bool:
        with self._counting:
            total = self._held_bytes + content.held_bytes
            # One alone is taken, whatever its size: it is in memory already.
            if content.held_bytes and self._held_bytes and total > CAPACITY_BYTES:
                return False
            if content.descriptor is not None and len(self._jobs) >= _MOST_OPEN:
                return False
            self._held_bytes = total
            return True

    def _count(self, held_bytes: int) -> None:
        with self._counting:
            self._held_bytes += held_bytes

    def _note_progress(self) -> None:
        self._moved_at = time.monotonic()

    def _do(self, job: Job) -> None:
        if job.content is not None:
            self._keep(job.path, job.content)
        else:
            for path, file in self._found(job):
                try:
                    content = to_content(
                        file, fallback="file", name=None, media_type=None
                    )
                except AgentError as error:
                    self._recorder.warn_refused(error, path)
                    continue
                try:
                    self._keep(path, content)
                finally:
                    content.close()
        self._write()

    def _keep(self, path: str, content: Content) -> None:
        try:
            if content.descriptor is not None:
                blob = self._blobs.keep_file(content.descriptor)
            else:
                blob = self._blobs.keep(content.data())
        except Changed:
            self._notices.warn(
                f"changed {shown(path)}",
                f"{shown(path)} is not stored: the file is written to all the time;"
                " upload it once it is complete",
            )
            return
        except OSError as error:
            self._notices.warn(
                f"files {error.errno}",
                f"{shown(path)} is not stored, as others may be: it cannot be copied"
                f" into {self._blobs.folder} ({error})",
            )
            return
        except Exception as error:  # noqa: BLE001 - foreign code: an image's encoder
            self._notices.warn(
                f"content {shown(path)}",
                f"{shown(path)} is not stored: it cannot be encoded"
                f" ({type(error).__name__})",
            )
            return
        media_type = content.media_type or _guessed(content.name)
        # Past the recorder, which takes nothing more once the run ends.
        self._buffer.put(
            SetFile(path, blob.digest, blob.size, media_type, content.name)
        )

    def _found(self, job: Job) -> Iterator[tuple[str, Path]]:
        """Yield the files of a set with their paths in the run."""
        count = 0
        for name, file in matching(job.pattern):
            if count >= LARGEST_SET:
                self._notices.warn(
                    f"set {shown(job.path)}",
                    f"{shown(job.pattern)} names more than {LARGEST_SET:,} files; the"
                    " others are not stored",
                )
                return
            path = f"{job.path}/{printable_path(name)}"
            try:
                cleaned = clean_path(path)
                self._recorder.claim(cleaned, Kind.FILE)
            except AgentError as error:
                self._recorder.warn_refused(error, path)
                continue
            count += 1
            yield cleaned, file
        if not count:
            self._notices.warn(
                f"set {shown(job.path)}", f"{shown(job.pattern)} names no file"
            )


def matching(pattern: str) -> Iterator[tuple[str, Path]]:
    """Yield files that a pattern names, or all in a folder, with their relative names."""
    if Path(pattern).is_dir():
        folder = pattern
        found: Iterator[str] = (
            str(Path(place, name))
            for place, _, names in os.walk(folder)
            for name in sorted(names)
        )
    else:
        # Names are those below the last folder without a wildcard.
        fixed = _WILDCARD.split(pattern, maxsplit=1)[0]
        folder = str(Path(fixed).parent) if not fixed.endswith(os.sep) else fixed
        found = iter(sorted(glob.glob(pattern, recursive=True)))  # noqa: PTH207 - as a text
    for name in found:
        path = Path(name)
        with contextlib.suppress(OSError):
            if path.is_file():
                yield os.path.relpath(name, folder or "."), path


def printable_path(name: str) -> str:
    """Return the relative name of a file as a part of a path in the run."""
    return "/".join(printable(part) for part in Path(name).parts)


def _guessed(name: str) -> str:
    found, encoding = _types.guess_type(name, strict=False)
    return BINARY if found is None or encoding is not None else found.lower()
