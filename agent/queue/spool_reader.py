"""Reads spools of live and dead processes without trusting their content.

An unreadable frame is replaced by an empty one with the same number, so that later
frames can still be delivered.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import stat
import time
import uuid
from collections.abc import Collection, Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

from seamark import messages
from seamark.lifecycle.machine import is_this_machine
from seamark.lifecycle.registration import (
    FIRST_NUMBER,
    Renewal,
    read_renewal,
    renewed,
    store_renewal,
)
from seamark.queue.frames import HEADER_BYTES, Frame, read_frames
from seamark.queue.locks import LOCK_FILE
from seamark.queue.own_files import NO_FILE, CutOff, append_to_file, read_file
from seamark.queue.segments import MAX_REPLACED, Segments
from seamark.queue.spool import (
    COMPLETE_FILE,
    DESCRIPTION_FILE,
    SEGMENT_SUFFIX,
    Spool,
    read_acknowledged,
    write_acknowledged,
)

SET_ASIDE_FOLDER = "set-aside"
_EMPTY_PAYLOAD = b"\x90"


class SpoolReader:
    """One spool folder, from the point of view of delivery."""

    def __init__(self, folder: Path, living: Spool | None = None) -> None:
        """Open a folder; `living` is the Spool if it belongs to this process."""
        self.folder = folder
        self._living = living
        self._counted = 0
        self.lost = 0  # lost points of a live spool that are not counted elsewhere
        self.id = folder.name
        self.replaced = 0  # frames that could not be read
        # Why existing frames could not be read by the last request.
        self.obstacle = ""
        # The number of the last frame the server has; a number too small causes a
        # repeat.
        self.delivered = 0
        with contextlib.suppress(OSError):
            self.delivered = read_acknowledged(folder)
        # Whether the other files could be read: the server of the frames, and the spool
        # id under which they are sent.
        self.is_known = True
        self._renewal: Renewal | None = None
        try:
            self._renewal = read_renewal(folder)
        except OSError:
            self.is_known = False
        self._segments = Segments(folder)
        # The position after the last frame read: number, file, offset.
        self._cursor: tuple[int, Path, int] | None = None
        # The file that was kept when delivered ones were deleted.
        self._left: Path | None = None
        # False for temporary read errors, for example of a file server.
        self._is_described = True
        self._description = self._read_description()

    @property
    def url(self) -> str | None:
        """The server this spool was meant for, if one was configured."""
        return self._described("url")

    @property
    def token_digest(self) -> str | None:
        """The digest of the token that its process used for that server."""
        return self._described("token_digest")

    @property
    def run(self) -> str:
        """The name of the run, for display."""
        origin = self._description.get("origin")
        return str(origin.get("run", "?")) if isinstance(origin, dict) else "?"

    @property
    def host(self) -> str | None:
        """The host name of its process's machine, if known."""
        origin = self._description.get("origin")
        host = origin.get("host") if isinstance(origin, dict) else None
        return host if isinstance(host, str) else None

    @property
    def is_of_this_machine(self) -> bool:
        """Whether the lock of its process would be visible here."""
        return self._is_described and is_this_machine(
            self.host, self._described("boot")
        )

    @property
    def is_complete(self) -> bool:
        """Whether its process is known to have written everything and ended."""
        with contextlib.suppress(OSError):
            return (self.folder / COMPLETE_FILE).is_file()
        # For example, the folder of another user is unreadable.
        return False

    @property
    def written_at(self) -> float | None:
        """The last modification in its folder, in seconds since 1970; None if unknown."""
        try:
            entries = list(self.folder.iterdir())
        except OSError:
            return None
        times = []
        for entry in entries:
            # Its process may delete delivered files after the listing.
            with contextlib.suppress(OSError):
                times.append(entry.stat().st_mtime)
        return max(times, default=None)

    @property
    def sent_as(self) -> str:
        """The spool id under which the server knows the frames."""
        return self.id if self._renewal is None else self._renewal.id

    @property
    def acknowledged(self) -> int:
        """The number of the last frame the server has, as sent."""
        return max(0, self.as_sent(self.delivered))

    @property
    def is_renewed_in_vain(self) -> bool:
        """Whether it was re-registered and still nothing is stored."""
        return self._renewal is not None and self.acknowledged == 0

    def as_sent(self, number: int) -> int:
        """Return the number under which a frame of the files is sent."""
        return number - self._shift

    def frames_from(self, number: int, *, most_bytes: int) -> list[Frame]:
        """Return frames as they are sent, from `number` on: at least one if there are
        any.

        Frames are consecutive, even if some were lost. Frames that cannot be read now
        are not lost: the list ends before them, and `obstacle` is the reason.
        """
        self.obstacle = ""
        found: list[Frame] = []
        size = 0
        for frame in self._nearest(number):
            length = HEADER_BYTES + len(frame.payload)
            if found and size + length > most_bytes:
                break
            found.append(frame)
            size += length
        return found

    def last_number(self) -> int:
        """Return the number of the last frame ever written, as far as known.

        Raises OSError if it cannot be read now.
        """
        delivered = max(self.delivered, read_acknowledged(self.folder))
        for _, _, segment in reversed(self._segments.ordered()):
            numbers = [frame.number for frame in read_frames(read_file(segment))]
            if numbers:
                return max([*numbers, delivered])
        return delivered

    def pending_bytes(self) -> int:
        """Return approximately how many bytes are not yet delivered."""
        size = 0
        try:
            segments = self._segments.holding(self.delivered + 1)
        except OSError:
            return 0
        for _, segment in segments:
            # Another process may have delivered and deleted it after the listing.
            with contextlib.suppress(OSError):
                size += segment.stat().st_size
        for _, frame in self._stored(self.delivered + 1):
            # The pending bytes begin at the first unacknowledged frame.
            return max(0, size - frame.end + len(frame.to_bytes()))
        return 0

    def acknowledge(self, number: int) -> None:
        """Store that the server has everything up to `number`."""
        self.delivered = number + self._shift
        with contextlib.suppress(OSError):
            write_acknowledged(self.folder, self.delivered)
        self._remove_segments_before(self.delivered + 1)

    def follow(self) -> bool:
        """Follow the live spool to its current folder; return whether it has moved."""
        living = self._living
        if living is None or living.folder == self.folder:
            return False
        self.folder = living.folder
        self._segments.go_on_in(self.folder, living.folders_to_read)
        self._cursor = None
        if self._renewal is not None:
            store_renewal(self.folder, self._renewal)
        with contextlib.suppress(OSError):
            write_acknowledged(self.folder, self.delivered)
        return True

    def renew(self, first: int, stored: Collection[int]) -> bool:
        """Send the frames from `first` on as a new spool, except those already stored.

        Numbers are as sent. Returns False if that is not possible.
        """
        origin = self._renewal.origin if self._renewal else self._origin()
        if origin is None:
            return False
        renewal = renewed(
            self._renewal,
            origin,
            max(first, FIRST_NUMBER) + self._shift,
            [number + self._shift for number in stored],
        )
        # Otherwise another process delivering the rest would store it twice.
        if not store_renewal(self.folder, renewal):
            return False
        self._renewal = renewal
        self.acknowledge(0)
        return True

    def unreported_end_at(self) -> int | None:
        """Return the last activity of a delivered spool's process that logged no end.

        In microseconds since 1970. None if it logged its end, or if the time cannot be
        determined now (see `obstacle`) or ever.
        """
        number = self.acknowledged
        last = self.frames_from(number, most_bytes=0) if number else []
        if (
            not last
            or last[0].number != number
            or messages.holds_close(last[0].payload)
        ):
            return None
        try:
            segments = self._segments.holding(self.delivered)
            written = [segment.stat().st_mtime_ns for _, segment in segments]
            # Touched periodically by a process that has nothing to write.
            with contextlib.suppress(FileNotFoundError):
                written.append((self.folder / LOCK_FILE).stat().st_mtime_ns)
        except OSError as error:
            self.obstacle = str(error)
            return None
        # File times may be arbitrary.
        now = time.time_ns()
        return max(0, min(max(written), now)) // 1000 if written else None

    def set_aside(self, frame: Frame) -> Path:
        """Store a frame that the server cannot read for inspection; return its path."""
        folder = self.folder.parent / SET_ASIDE_FOLDER
        name = f"{self.id}{SEGMENT_SUFFIX}"
        with contextlib.suppress(OSError):
            append_to_file(folder, name, frame.to_bytes())
        return folder / name

    def remove(self) -> None:
        """Delete the folder after its delivery."""
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def _shift(self) -> int:
        return 0 if self._renewal is None else self._renewal.shift

    def _nearest(self, number: int) -> Iterable[Frame]:
        """Return the frames from `number` on, from memory if all are there.

        While the server keeps up, the sender does not read the disk: each system call
        may interrupt the training.
        """
        living = self._living
        if living is None or self._renewal is not None:
            return self._sent(number)
        if number > living.written:
            return ()
        return living.recent.frames_from(number) or self._sent(number)

    def _sent(self, number: int) -> Iterator[Frame]:
        renewal = self._renewal
        if renewal is None:
            yield from self._consecutive(number)
            return
        if number < FIRST_NUMBER:
            yield Frame(1, messages.payload([messages.open_spool(renewal.origin)]))
        for frame in self._consecutive(max(number, FIRST_NUMBER) + renewal.shift):
            is_left_out = frame.number in renewal.stored
            # The new spool needs its last message too.
            if is_left_out and not messages.holds_close(frame.payload):
                payload = _EMPTY_PAYLOAD
            else:
                payload = frame.payload
            yield Frame(self.as_sent(frame.number), payload, frame.end)

    def _consecutive(self, number: int) -> Iterator[Frame]:
        expected = number
        for first, frame in self._stored(number):
            # No damage loses this many frames: the number is wrong. Frames of earlier
            # files may be gone because they were delivered.
            if frame.number - max(expected, first) > MAX_REPLACED:
                continue
            while expected < frame.number:
                yield self._cached_frame(expected) or self._replacement(expected)
                expected += 1
            if frame.number == expected:
                yield frame
                expected += 1
        while (remembered := self._cached_frame(expected)) is not None:
            yield remembered
            expected += 1

    def _cached_frame(self, number: int) -> Frame | None:
        """Return an unreadable frame from memory, if it is there."""
        payload = None if self._living is None else self._living.recent.payload(number)
        return None if payload is None else Frame(number, payload)

    def _stored(self, number: int) -> Iterator[tuple[int, Frame]]:
        """Yield every intact frame from `number` on, with the first number of its file."""
        try:
            for first, segment in self._segments.holding(number):
                for frame in self._in_segment(number, segment):
                    yield first, frame
        except OSError as error:
            # Later frames must wait, because they would replace the unreadable ones.
            self.obstacle = str(error)

    def _in_segment(self, number: int, segment: Path) -> Iterator[Frame]:
        offset = 0
        if self._cursor is not None and self._cursor[:2] == (number, segment):
            offset = self._cursor[2]
        obstacle: OSError | None = None
        try:
            data = self._segments.read(segment, offset)
        except CutOff as error:
            data, obstacle = error.data, error
        for frame in read_frames(data):
            if frame.number >= number:
                end = offset + frame.end
                start = end - HEADER_BYTES - len(frame.payload)
                # Stays like this if the caller takes no more frames.
                self._cursor = (frame.number, segment, start)
                yield Frame(frame.number, frame.payload, end)
                self._cursor = (frame.number + 1, segment, end)
        if obstacle is not None:
            raise obstacle

    def _replacement(self, number: int) -> Frame:
        self.replaced += 1
        self._count(number)
        origin = self._origin() if number == 1 else None
        if origin is not None:
            # JSON may hold values that a message cannot: lone surrogates, infinite
            # numbers.
            with contextlib.suppress(ValueError, OverflowError, RecursionError):
                return Frame(1, messages.payload([messages.open_spool(origin)]))
        return Frame(number, _EMPTY_PAYLOAD)

    def _count(self, number: int) -> None:
        living = self._living
        if living is not None and number > max(self._counted, living.given_up):
            self._counted = number
            self.lost += living.recent.count_points([number])

    def _origin(self) -> messages.Origin | None:
        stored = self._description.get("origin")
        try:
            return messages.Origin(**stored) if isinstance(stored, dict) else None
        except TypeError:
            return None  # written by another version, or damaged

    def _remove_segments_before(self, number: int) -> None:
        newest = None if self._living is None else self._living.newest_segment
        if newest is not None and newest == self._left:
            return
        try:
            # A segment created after this listing is not included.
            segments = self._segments.ordered()
        except OSError:
            return
        self._left = newest if [path for _, _, path in segments] == [newest] else None
        for (_, _, segment), (end, _, _) in pairwise(segments):
            if end <= number:
                # On a disk that accepts no writes, it stays.
                with contextlib.suppress(OSError):
                    segment.unlink()

    # Any: JSON that another program may have written.
    def _described(self, name: str) -> str | None:
        found = self._description.get(name)
        return found if isinstance(found, str) else None

    def _read_description(self) -> dict[str, Any]:
        try:
            stored = json.loads(read_file(self.folder / DESCRIPTION_FILE))
        except OSError as error:
            self._is_described = isinstance(error, FileNotFoundError)
            self.is_known &= error.errno in NO_FILE
            return {}
        except (ValueError, RecursionError):
            return {}
        return stored if isinstance(stored, dict) else {}


def find_spools(root: Path) -> list[SpoolReader]:
    """Return every readable spool in a folder, oldest first."""
    return [SpoolReader(folder) for folder in spool_folders(root)]


def spool_folders(root: Path) -> list[Path]:
    """Return the folders of all spools, oldest first."""
    found = []
    with contextlib.suppress(OSError):
        for folder in filter(_is_named_by_id, root.iterdir()):
            # Another process may have delivered and deleted it after the listing.
            with contextlib.suppress(OSError):
                status = folder.stat(follow_symlinks=False)
                if stat.S_ISDIR(status.st_mode):
                    found.append((status.st_mtime, folder))
    return [folder for _, folder in sorted(found)]


def _is_named_by_id(folder: Path) -> bool:
    try:
        return str(uuid.UUID(folder.name)) == folder.name
    except ValueError:
        return False
