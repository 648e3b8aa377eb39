"""Reads spools, of the living process and of dead ones, and trusts no byte.

A frame that cannot be read any more is replaced by an empty one of the same
number, so that everything behind it can still be delivered.
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
    """One spool folder, as its deliverer sees it."""

    def __init__(self, folder: Path, living: Spool | None = None) -> None:
        """`living` is the spool itself, where its process is this one."""
        self.folder = folder
        self._living = living
        self._counted = 0
        self.lost = 0  # points of a living spool that nobody else counts
        self.id = folder.name
        self.replaced = 0  # frames that could not be read
        # Why frames that are there could not be read when they were last asked for.
        self.obstacle = ""
        # The number of the last frame the tracker has; one too small costs a repeat.
        self.delivered = 0
        with contextlib.suppress(OSError):
            self.delivered = read_acknowledged(folder)
        # Whether all else that is beside the frames could be read: for which server they
        # are, and as which spool they are sent.
        self.is_known = True
        self._renewal: Renewal | None = None
        try:
            self._renewal = read_renewal(folder)
        except OSError:
            self.is_known = False
        self._segments = Segments(folder)
        # Where the frame behind the last one read lies: number, file, offset.
        self._cursor: tuple[int, Path, int] | None = None
        # The file that was left alone when what is delivered was deleted.
        self._left: Path | None = None
        # Not for what cannot be read just now, as while a server of files is away.
        self._is_described = True
        self._description = self._read_description()

    @property
    def url(self) -> str | None:
        """The server this spool was meant for, if one was known."""
        return self._described("url")

    @property
    def token_digest(self) -> str | None:
        """By which token its process was known to that server."""
        return self._described("token_digest")

    @property
    def run(self) -> str:
        """The name of the run, for people to read."""
        origin = self._description.get("origin")
        return str(origin.get("run", "?")) if isinstance(origin, dict) else "?"

    @property
    def host(self) -> str | None:
        """What the machine of its process calls itself, where it is known."""
        origin = self._description.get("origin")
        host = origin.get("host") if isinstance(origin, dict) else None
        return host if isinstance(host, str) else None

    @property
    def is_of_this_machine(self) -> bool:
        """Whether the lock of its process would be seen here."""
        return self._is_described and is_this_machine(
            self.host, self._described("boot")
        )

    @property
    def is_complete(self) -> bool:
        """Whether its process is known to have written everything and ended."""
        with contextlib.suppress(OSError):
            return (self.folder / COMPLETE_FILE).is_file()
        # As in a folder of another user, which may not be looked into.
        return False

    @property
    def written_at(self) -> float | None:
        """When its folder was last written to, in seconds since 1970, if that is known."""
        try:
            entries = list(self.folder.iterdir())
        except OSError:
            return None
        times = []
        for entry in entries:
            # Its process deletes what is delivered; a listing may be older than that.
            with contextlib.suppress(OSError):
                times.append(entry.stat().st_mtime)
        return max(times, default=None)

    @property
    def sent_as(self) -> str:
        """The id under which the tracker knows the frames."""
        return self.id if self._renewal is None else self._renewal.id

    @property
    def acknowledged(self) -> int:
        """The number of the last frame the tracker has, as it is sent."""
        return max(0, self.as_sent(self.delivered))

    @property
    def is_renewed_in_vain(self) -> bool:
        """Whether even of a new spool nothing has been stored."""
        return self._renewal is not None and self.acknowledged == 0

    def as_sent(self, number: int) -> int:
        """Return the number under which a frame of the files is sent."""
        return number - self._shift

    def frames_from(self, number: int, *, most_bytes: int) -> list[Frame]:
        """Return frames as they are sent, from `number` on: one or more if there are.

        Frames follow each other without gaps, whatever was lost. What is there and
        cannot be read now is not lost: they end before it, and `obstacle` says why.
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
        """Return the number of the last frame that was ever written, as far as known.

        Raises OSError where that cannot be known now.
        """
        delivered = max(self.delivered, read_acknowledged(self.folder))
        for _, _, segment in reversed(self._segments.ordered()):
            numbers = [frame.number for frame in read_frames(read_file(segment))]
            if numbers:
                return max([*numbers, delivered])
        return delivered

    def pending_bytes(self) -> int:
        """Roughly how much is not yet delivered."""
        size = 0
        try:
            segments = self._segments.holding(self.delivered + 1)
        except OSError:
            return 0
        for _, segment in segments:
            # Who delivers it deletes it; a listing may be older than that.
            with contextlib.suppress(OSError):
                size += segment.stat().st_size
        for _, frame in self._stored(self.delivered + 1):
            # The first frame not acknowledged begins where the pending bytes do.
            return max(0, size - frame.end + len(frame.to_bytes()))
        return 0

    def acknowledge(self, number: int) -> None:
        """Remember that everything up to `number` is stored by the tracker."""
        self.delivered = number + self._shift
        with contextlib.suppress(OSError):
            write_acknowledged(self.folder, self.delivered)
        self._remove_segments_before(self.delivered + 1)

    def follow(self) -> bool:
        """Go on where the spool does; return whether that is another folder."""
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
        """Send the frames from `first` on as a new spool, without those stored already.

        Numbers are as the frames were sent. False where it cannot be done.
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
        # Or who delivers the rest would not know of it, and have it stored twice.
        if not store_renewal(self.folder, renewal):
            return False
        self._renewal = renewal
        self.acknowledge(0)
        return True

    def unsaid_end_at(self) -> int | None:
        """Return when the process of a delivered spool was last there, if it did not say.

        In microseconds since 1970. None where it said how it ended, and where that is
        not known: not now, as `obstacle` says, or not any more.
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
            # Touched now and then by one that has nothing to write.
            with contextlib.suppress(FileNotFoundError):
                written.append((self.folder / LOCK_FILE).stat().st_mtime_ns)
        except OSError as error:
            self.obstacle = str(error)
            return None
        # As file systems have them, times may be of any century.
        now = time.time_ns()
        return max(0, min(max(written), now)) // 1000 if written else None

    def set_aside(self, frame: Frame) -> Path:
        """Keep a frame that the tracker cannot read where people can find it."""
        folder = self.folder.parent / SET_ASIDE_FOLDER
        name = f"{self.id}{SEGMENT_SUFFIX}"
        with contextlib.suppress(OSError):
            append_to_file(folder, name, frame.to_bytes())
        return folder / name

    def remove(self) -> None:
        """Delete the folder, once all of it is delivered."""
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def _shift(self) -> int:
        return 0 if self._renewal is None else self._renewal.shift

    def _nearest(self, number: int) -> Iterable[Frame]:
        """Return the frames from `number` on: out of memory, where it has all of them.

        While the tracker keeps up, the sender so has no need of the disk: around each
        call of the system the training may be interrupted.
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
            # The new spool has to end, too.
            if is_left_out and not messages.holds_close(frame.payload):
                payload = _EMPTY_PAYLOAD
            else:
                payload = frame.payload
            yield Frame(self.as_sent(frame.number), payload, frame.end)

    def _consecutive(self, number: int) -> Iterator[Frame]:
        expected = number
        for first, frame in self._stored(number):
            # No damage loses this many: the number itself is false. What lay in
            # files before this one may be gone, because it was delivered once.
            if frame.number - max(expected, first) > MAX_REPLACED:
                continue
            while expected < frame.number:
                yield self._remembered(expected) or self._replacement(expected)
                expected += 1
            if frame.number == expected:
                yield frame
                expected += 1
        while (remembered := self._remembered(expected)) is not None:
            yield remembered
            expected += 1

    def _remembered(self, number: int) -> Frame | None:
        """Return a frame that the disk does not give back, from memory."""
        payload = None if self._living is None else self._living.recent.payload(number)
        return None if payload is None else Frame(number, payload)

    def _stored(self, number: int) -> Iterator[tuple[int, Frame]]:
        """Every intact frame not before `number`, and the first number of its file."""
        try:
            for first, segment in self._segments.holding(number):
                for frame in self._in_segment(number, segment):
                    yield first, frame
        except OSError as error:
            # What follows has to wait: it would take the place of what is there.
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
                # Left like this when the caller takes no more than before.
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
            # JSON holds what no message can: half a surrogate pair, an endless number.
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
            return None  # by another agent than this one, or by nobody's

    def _remove_segments_before(self, number: int) -> None:
        newest = None if self._living is None else self._living.newest_segment
        if newest is not None and newest == self._left:
            return
        try:
            # One that begins after this look is not among them.
            segments = self._segments.ordered()
        except OSError:
            return
        self._left = newest if [path for _, _, path in segments] == [newest] else None
        for (_, _, segment), (end, _, _) in pairwise(segments):
            if end <= number:
                # On a disk that takes nothing more, it stays.
                with contextlib.suppress(OSError):
                    segment.unlink()

    # Any: JSON that something else may have written.
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
    """Return every spool below the folder that can be looked at, the oldest first."""
    return [SpoolReader(folder) for folder in spool_folders(root)]


def spool_folders(root: Path) -> list[Path]:
    """Return the folder of each."""
    found = []
    with contextlib.suppress(OSError):
        for folder in filter(_is_named_by_id, root.iterdir()):
            # Who delivers one deletes it; a listing may be older than that.
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
