"""Moves the data of one run in one process: spool, writer, sender, sampler."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import TracebackType

from seamark.capture.capture import Capture
from seamark.errors import RunClosed
from seamark.hints import command_line
from seamark.lifecycle.background import Background
from seamark.lifecycle.bounded_io import within
from seamark.lifecycle.exit_deadline import Ending
from seamark.probes.probe import Job
from seamark.probes.sampler import Sampler
from seamark.queue.folders import Place
from seamark.queue.recovery import recover_all
from seamark.queue.ring import MAX_ROW_BYTES, Ring
from seamark.queue.spool import Refuge, Spool
from seamark.queue.writer import RING_BYTES_AT_ONCE, Writer
from seamark.recording.attributes import Recorder
from seamark.recording.files import Files
from seamark.settings import Mode, Settings
from seamark.upload.sender import Sender
from seamark.user_warnings import Notices

# Time for writing at the end of a run, independent of the timeout for delivery, and the
# minimum if earlier work took long.
_WRITE_SECONDS = 2.0
_MIN_SECONDS = 0.3
_SAMPLE_SECONDS = 1.0
# The maximum loss at a power failure.
_SYNC_SECONDS = 5.0
# Interval of signs of life for other processes; an hour without one means the end.
_LIFE_SECONDS = 60.0
_STOP_SECONDS = 0.1
# A file system that takes longer is treated as hanging.
OPEN_SECONDS = 1.0


@dataclass(frozen=True)
class Remainder:
    """Data that could not be delivered before the end."""

    folder: Path
    is_written: bool


class Session:
    """Starts with the first logged data of a process and ends with its run."""

    def __init__(
        self,
        settings: Settings,
        recorder: Recorder,
        notices: Notices,
        spool: Spool,
        ring: Ring | None,
        *,
        find_data: Callable[[], Path | None],
        places_left: Iterator[Place],
        url: str | None = None,
    ) -> None:
        """Create it; `places_left` are fallback folders for the spool if its disk
        fails.

        `url` is the address of the run's page.
        """
        self.url = url
        self._settings = settings
        self._places_left = places_left
        self._buffer = recorder.buffer
        self._spool = spool
        self.ring = ring
        self._writer = Writer(
            recorder,
            ring,
            spool,
            notices,
            move=self._go_on_elsewhere,
            care=self._care,
        )
        self.files = Files(
            recorder,
            spool.folder,
            notices,
            write=self._writer.flush,
            sync=spool.sync,
            most_bytes=settings.spool_files_bytes,
        )
        # A separate thread, because a slow disk must not block the others.
        self._syncer = Background("seamark-syncer", self._sync)
        self._notices = notices
        self._is_tidied = False
        self._next_life = 0.0  # time.monotonic()
        self._sender: Sender | None = None
        self._sampler: Sampler | None = None
        if settings.mode is Mode.ONLINE:
            self._sender = Sender(
                spool,
                spool.folder.parent,
                notices,
                count_dropped=recorder.buffer.count_dropped,
                tell_closed=partial(recorder.close, RunClosed(settings.run)),
                reject=recorder.reject,
                before_batch=self._writer.catch_up,
                after_turn=self._writer.background.ensure,
                find_quiet=self._find_quiet,
            )
        if settings.monitor:
            self._sampler = Sampler(
                settings.namespace,
                recorder,
                notices,
                agent_cpu_seconds=self.cpu_seconds,
                job=Job(
                    settings.watched,
                    settings.dataset,
                    settings.local_rank,
                    find_data,
                ),
                interval=settings.sample_seconds,
                measured_by=settings.measured_by,
                profile=settings.profile,
            )

        self._capture = Capture(settings, recorder, notices)

    @property
    def folder(self) -> Path:
        return self._spool.folder

    @property
    def run_id(self) -> str:
        """The run's id; "" until the server has answered."""
        return "" if self._sender is None else self._sender.run_id

    @property
    def is_all_written(self) -> bool:
        """Whether all logged data is in the spool."""
        return self._writer.is_all_written

    def hurry(self) -> None:
        """Write all logged data to the spool soon."""
        self._writer.hurry()

    def start(self) -> None:
        """Start the threads."""
        self._writer.start()
        self._keep_alive()
        self._capture.start()

    def note_exception(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Store the exception that ends the process."""
        self._capture.note_exception(kind, error, trace)

    @property
    def was_preempted(self) -> bool:
        """Whether a signal asked the process to end a short while ago."""
        return self._capture.was_preempted

    def ending(self, timeout: float | None, share: float) -> Ending:
        """Return the time limit of the end: by default the share of the exit timeout."""
        if timeout is not None:
            return Ending(timeout)
        return Ending(share * self._settings.exit_seconds, is_within=True)

    def end_capture(self, ending: Ending) -> None:
        """Finish capture and sampling, and restore the standard streams."""
        self._capture.finish(ending)
        if self._sampler is not None:
            self._sampler.stop(min(ending.left, _SAMPLE_SECONDS))

    def finish(
        self,
        *,
        failure: str | None,
        is_preempted: bool,
        ending: Ending,
        ended_at: int | None = None,
    ) -> Remainder | None:
        """End the spool and deliver it; return the undelivered rest, if any."""
        is_written = is_sent = False
        try:
            try:
                self._finish_logging(ending)
            except KeyboardInterrupt:
                ending = Ending(0.0)
                raise
            finally:
                # Always written, however short the timeout and even after an
                # interruption: unwritten data is lost, and a run without a written end
                # counts as crashed.
                is_written = self._writer.finish(
                    failure=failure,
                    is_preempted=is_preempted or self.was_preempted,
                    seconds=max(
                        ending.left_of_first(_WRITE_SECONDS),
                        min(ending.left, _WRITE_SECONDS),
                        _MIN_SECONDS,
                    ),
                    ended_at=ended_at,
                )
            if self._sender is not None:
                is_sent = self._sender.drain(ending.left)
        finally:
            is_delivered = is_sent and is_written
            self._end(is_delivered=is_delivered, is_written=is_written)
        return None if is_delivered else Remainder(self.folder, is_written)

    def _finish_logging(self, ending: Ending) -> None:
        if self._sampler is not None:
            # An interruption may have skipped it.
            self._sampler.stop(0.0)
        # Files that are not copied now are lost, however short the timeout.
        copying = max(ending.left_of_first(_WRITE_SECONDS), ending.left_for_most)
        self.files.finish(copying)

    def forget(self) -> None:
        """Release the parent's session in a forked child without changing it."""
        self._spool.forget()
        self._capture.forget()
        if self.ring is not None:
            self.ring.close()

    def _end(self, *, is_delivered: bool, is_written: bool) -> None:
        if self._sender is not None:
            self._sender.stop()
        # Does not wait for a disk that hangs.
        self._syncer.stop(_STOP_SECONDS)
        if not self._writer.close():
            # The writer hangs in a write; no other process may take the spool
            # meanwhile.
            return
        if self.ring is not None:
            # Its remaining rows are moved when the spool is delivered.
            (self.ring.remove if is_written else self.ring.close)()
        if is_delivered:
            self._spool.remove()
        else:
            self._spool.close(is_complete=is_written)

    def _sync(self) -> float:
        # The other threads may be waiting for a server, or may not exist.
        self._writer.background.ensure()
        if not self._is_tidied:
            self._is_tidied = True
            recover_all(self._spool.folder.parent, self._notices)
            if self._sender is not None:
                # The sender may have found a locked spool before.
                self._sender.search_leftovers()
        # The writer reports its own errors.
        with contextlib.suppress(Exception):
            # Bounded: data logged meanwhile is written next time.
            for _ in range(MAX_ROW_BYTES // RING_BYTES_AT_ONCE):
                if not self._writer.catch_up():
                    break
        with contextlib.suppress(OSError):
            self._spool.sync()
        if time.monotonic() >= self._next_life:
            self._next_life = time.monotonic() + _LIFE_SECONDS
            self._spool.show_life()
        return _SYNC_SECONDS

    def _go_on_elsewhere(self, reason: OSError) -> bool:
        """Continue the spool in a fallback folder; return False if there is none."""
        refuge = self._found_refuge()
        if refuge is None:
            return False
        before = self._spool.folder
        lost = self._spool.go_on_in(refuge)
        if self.ring is not None:
            self.ring.go_on_with(self._spool.folder, self._spool.moves)
        self.files.go_on_in(self._spool.folder)
        if lost:
            self._buffer.count_dropped(lost)
        root = self._spool.folder.parent
        given_up = f"; {lost:,} points in it cannot be read" if lost else ""
        self._notices.warn(
            f"moved {before}",
            f"writing to the offline queue {before} failed ({reason}){given_up}; new"
            f" data is stored in {root}; if it is not delivered in time, run "
            f"`{command_line(f'sync --spool {root}')}`",
        )
        return True

    def _found_refuge(self) -> Refuge | None:
        for place in self._places_left:
            with contextlib.suppress(OSError):
                return within(
                    OPEN_SECONDS,
                    partial(self._spool.make_refuge, place),
                    Refuge.remove,
                )
        return None

    def _care(self) -> None:
        self._keep_alive()
        self._capture.look_for_signals()

    def _find_quiet(self) -> float | None:
        return None if self._sampler is None else self._sampler.quiet_moment

    def _keep_alive(self) -> None:
        self._syncer.ensure()
        self._capture.keep_alive()
        for part in (self._sender, self._sampler):
            if part is not None:
                part.background.ensure()
        if not self.files.is_done:
            self.files.background.ensure()

    def cpu_seconds(self) -> float:
        """Return the CPU time of the agent's own threads, in seconds."""
        parts = (self._writer, self._sender)
        threads = [part.background for part in parts if part is not None]
        threads += [self._syncer, self.files.background, *self._capture.threads]
        sampling = 0.0 if self._sampler is None else self._sampler.cpu_seconds
        return sampling + sum(thread.cpu_seconds for thread in threads)
