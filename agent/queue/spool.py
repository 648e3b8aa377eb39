"""Writes the spool of this process: segments of frames in a folder of its own.

A frame is written by one system call, so a process that is killed loses only
what it had not yet written. Each number is used for one frame, for ever.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shutil
import threading
import uuid
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from seamark import messages
from seamark.lifecycle.bounded_io import within
from seamark.queue import locks
from seamark.queue.descriptors import Descriptor, descriptor
from seamark.queue.folders import Place
from seamark.queue.frames import Frame
from seamark.queue.own_files import read_file, read_if_there, sync, write_file
from seamark.queue.recent_frames import RecentFrames
from seamark.queue.ring import boot_id, mark_ring

SEGMENT_BYTES = 8 * 1024 * 1024
# Beyond this, new points are dropped and counted: the disk is not ours.
LARGEST_SPOOL_BYTES = 4 * 1024 * 1024 * 1024
# What is left to everybody else on the disk: so much, or of a small one a part.
_MIN_FREE_BYTES = 1024 * 1024 * 1024
_MIN_FREE_PART = 20
# That much may always wait, or nothing could be sent from a disk that is nearly full.
_ALWAYS_BYTES = 2 * SEGMENT_BYTES

_TIDY_SECONDS = 0.1

DESCRIPTION_FILE = "spool.json"
ACKNOWLEDGED_FILE = "acknowledged"
# There once its process has written everything and ended.
COMPLETE_FILE = "complete"
SEGMENT_SUFFIX = ".frames"


class SpoolFull(OSError):
    """It holds as much as it may, by our own limits: the disk is in order."""


class Refuge(NamedTuple):
    """A folder in which a spool can go on, because of its own nothing can be expected."""

    folder: Path
    lock: locks.Lock
    most_bytes: int | None
    first: int  # the first frame that lies in it
    can_be_read: bool  # the folder before it

    def remove(self) -> None:
        """Delete it: it came too late."""
        locks.release(self.lock)
        shutil.rmtree(self.folder, ignore_errors=True)


class _Left(NamedTuple):
    """A folder that a spool has left."""

    folder: Path
    lock: locks.Lock
    is_needed: bool  # for frames that lie nowhere else
    is_whole: bool  # nothing in it was given up


class Spool:
    """The open spool of the living process."""

    def __init__(
        self,
        folder: Path,
        lock: locks.Lock,
        description: bytes,
        *,
        most_bytes: int | None = None,
    ) -> None:
        self.folder = folder
        self._most_bytes = most_bytes
        self._lock = lock
        self._description = description
        self._segment: Descriptor | None = None
        self._segment_bytes = 0
        self._path: Path | None = None  # of the segment
        # Of what the kernel has, and the disk perhaps not yet.
        self._unsynced: set[Path] = set()
        self._synced_folder: Path | None = None  # whose own name the disk has, too
        self._syncing = threading.Lock()
        self.written = 0  # the number of the last frame in the file
        self.delivered = 0  # that of the last one that the tracker has
        self.recent = RecentFrames()
        # Of frames up to this one, those that cannot be read are counted as dropped.
        self.given_up = 0
        self._left: list[_Left] = []

    @property
    def moves(self) -> int:
        """How often it went on in another folder."""
        return len(self._left)

    @property
    def folders_to_read(self) -> list[Path]:
        """The folders it has left with frames that lie there alone, and can be read."""
        return [left.folder for left in self._left if left.is_needed]

    @property
    def newest_segment(self) -> Path | None:
        """The file that frames are appended to, if there was one."""
        return self._path

    def write(self, payload: bytes) -> None:
        """Append one frame; on OSError nothing was appended."""
        frame = Frame(self.written + 1, payload).to_bytes()
        try:
            self._append(self._open_segment(), frame)
        except OSError:
            self._make_room()
            raise
        self._segment_bytes += len(frame)
        self.written += 1
        self.recent.add(self.written, payload)
        if self._path is not None:
            self._unsynced.add(self._path)

    def note_delivered(self, number: int) -> None:
        """The tracker has everything up to this frame."""
        if number != self.delivered:
            self.delivered = number
            self.recent.forget(number)

    def make_refuge(self, place: Place) -> Refuge:
        """Make a folder of the same name elsewhere; OSError if that fails too.

        What the tracker lacks lies in it at once, as far as it is in memory.
        """
        # Asked first: more may be delivered meanwhile, and never less.
        wanted = self.delivered + 1
        frames = self.recent.frames()
        first = frames[0].number if frames else self.written + 1
        folder, lock = _made(
            place.root(), self.folder.name, self._description, wanted - 1, frames
        )
        can_be_read = first > wanted and _can_be_read(self.folder)
        most_bytes = place.at_most(self._most_bytes)
        return Refuge(folder, lock, most_bytes, first, can_be_read)

    def go_on_in(self, refuge: Refuge) -> int:
        """Leave the folder for another; return how many points cannot be read any more.

        The spool stays what it is, with its id and numbers: the tracker sees nothing of
        it, and nothing is stored twice.
        """
        self._close_segment()
        self._unsynced = {refuge.folder / _segment_name(refuge.first)}
        behind = range(self.delivered + 1, refuge.first)
        lost = 0
        if not refuge.can_be_read:
            lost = self.recent.count_points(behind)
            self.given_up = max(self.given_up, refuge.first - 1)
        self._left.append(
            _Left(
                self.folder,
                self._lock,
                is_needed=bool(behind) and refuge.can_be_read,
                is_whole=refuge.can_be_read or not behind,
            )
        )
        self.folder, self._lock = refuge.folder, refuge.lock
        self._most_bytes = refuge.most_bytes
        return lost

    def sync(self) -> None:
        """Wait until all that was written survives the machine; OSError if it does not."""
        # Who comes second waits for what the first is about to sync.
        with self._syncing:
            for path in [*self._unsynced]:
                # Before it is read from, so that what is written meanwhile counts anew.
                self._unsynced.discard(path)
                # Delivered and deleted, by now, it is safe elsewhere.
                with contextlib.suppress(FileNotFoundError):
                    sync(path)
                    sync(path.parent)
                    self._sync_name(path.parent)

    def _sync_name(self, folder: Path) -> None:
        """Have the folder itself survive the machine, and what says whose it is."""
        # Once: it never gets another name. Not when it is made, as init() waits for that.
        if folder != self._synced_folder:
            sync(folder / DESCRIPTION_FILE)
            sync(folder.parent)
            self._synced_folder = folder

    def show_life(self) -> None:
        """Say to other machines, which may not see the lock, that the process lives."""
        with contextlib.suppress(OSError):
            os.utime(self.folder / locks.LOCK_FILE, follow_symlinks=False)

    def close(self, *, is_complete: bool = False) -> None:
        """Close the files and let others deliver what is left, if it is complete at once.

        If not, other machines wait: the rest may be in this one's memory.
        """
        self._close_segment()
        if is_complete:
            with contextlib.suppress(OSError):
                write_file(self.folder / COMPLETE_FILE, b"")
        for lock in (self._lock, *(left.lock for left in self._left)):
            locks.release(lock)

    def remove(self) -> None:
        """Delete the spool, once all of it is delivered."""
        self.close()
        shutil.rmtree(self.folder, ignore_errors=True)
        # Of what was given up something may be read again one day.
        for left in [left.folder for left in self._left if left.is_whole]:
            # A disk that failed is not waited for.
            with contextlib.suppress(TimeoutError):
                within(_TIDY_SECONDS, partial(shutil.rmtree, left, ignore_errors=True))

    def forget(self) -> None:
        """Close the parent's file in a forked child, and touch nothing."""
        self._close_segment()

    def _append(self, segment: Descriptor, frame: bytes) -> None:
        try:
            written = os.write(segment.number, frame)
        except OSError:
            self._undo(segment)
            raise
        if written < len(frame):
            self._undo(segment)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def _make_room(self) -> None:
        """Delete the last file, too, if it is delivered: it may be what fills the disk."""
        with contextlib.suppress(OSError):
            is_delivered = read_acknowledged(self.folder) == self.written
            if self._path is not None and is_delivered:
                self._close_segment()
                self._path.unlink()

    def _open_segment(self) -> Descriptor:
        if self._segment is not None:
            found = self._segment.stat()
            # The folder may be deleted under us; its file would swallow frames.
            is_there = found is not None and found.st_nlink > 0
            # Whoever could have the lock would send the spool, and delete it.
            if (
                is_there
                and self._segment_bytes < SEGMENT_BYTES
                and locks.is_kept(self._lock)
            ):
                return self._segment
            self._close_segment()

        if not locks.is_of(self._lock, self.folder):
            self._make_folder_again()
        self._check_room()
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
        self._path = self.folder / _segment_name(self.written + 1)
        self._segment = descriptor(os.open(self._path, flags, 0o600))
        self._segment_bytes = os.fstat(self._segment.number).st_size
        return self._segment

    def _check_room(self) -> None:
        waiting = stored_bytes(self.folder)
        most = LARGEST_SPOOL_BYTES if self._most_bytes is None else self._most_bytes
        if waiting >= most:
            raise SpoolFull(errno.EDQUOT, "the spool has reached its largest size")
        if waiting < _ALWAYS_BYTES:
            return
        space = os.statvfs(self.folder)
        least = min(_MIN_FREE_BYTES, space.f_blocks * space.f_frsize // _MIN_FREE_PART)
        if space.f_bavail * space.f_frsize < least:
            raise SpoolFull(errno.EDQUOT, "the disk is nearly full")

    def _make_folder_again(self) -> None:
        """Make the folder that was deleted under us, or else nobody could deliver it."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_file(self.folder / DESCRIPTION_FILE, self._description)
        mark_ring(self.folder, self.moves)
        before, self._lock = self._lock, _lock(self.folder)
        # Closed by others, its number may be in use again, and for the same file.
        if before != self._lock:
            locks.release(before)

    def _undo(self, segment: Descriptor) -> None:
        try:
            if segment.stat() is None:
                self._segment = None
                return
            os.ftruncate(segment.number, self._segment_bytes)
        except OSError:
            # The rest of a frame stays, and readers skip it; but how long the file
            # is would not be known any more.
            self._close_segment()
            raise

    def _close_segment(self) -> None:
        segment, self._segment = self._segment, None
        if segment is not None:
            # Over a network a file may fail only now; it is closed all the same.
            with contextlib.suppress(OSError):
                segment.close()


def create_spool(
    root: Path,
    origin: messages.Origin,
    *,
    url: str | None,
    token_digest: str | None = None,
    most_bytes: int | None = None,
) -> Spool:
    """Make a new spool below `root`, with its first frame; OSError if that fails.

    The address and the digest of the token, where they are known, say what server it is
    meant for. At most so many bytes of frames wait in it, by default the usual.
    """
    description = json.dumps(
        {
            "version": 1,
            "url": url,
            "token_digest": token_digest,
            "origin": origin.stored(),
            # Whose locks hold: beside the host's name, which containers change.
            "boot": boot_id(),
        }
    ).encode()
    folder, lock = _made(root, str(uuid.uuid4()), description)
    spool = Spool(folder, lock, description, most_bytes=most_bytes)
    try:
        spool.write(messages.payload([messages.open_spool(origin)]))
    except OSError:
        spool.remove()
        raise
    return spool


def _made(
    root: Path,
    spool_id: str,
    description: bytes,
    acknowledged: int = 0,
    frames: Sequence[Frame] = (),
) -> tuple[Path, locks.Lock]:
    """Make the folder of a spool, and lock it."""
    # Others look only at folders named by an id: made aside and locked before
    # it gets its name, a new spool is never taken for an abandoned one.
    aside = root / f".{spool_id}.new"
    aside.mkdir(mode=0o700, parents=True)
    lock = None
    try:
        write_file(aside / DESCRIPTION_FILE, description)
        # A full disk has room to write over it, not for another file.
        write_acknowledged(aside, acknowledged)
        if frames:
            content = b"".join(frame.to_bytes() for frame in frames)
            write_file(aside / _segment_name(frames[0].number), content)
        lock = _lock(aside)
        return aside.rename(root / spool_id), lock
    except OSError:
        if lock is not None:
            locks.release(lock)
        shutil.rmtree(aside, ignore_errors=True)
        raise


def _segment_name(first: int) -> str:
    return f"{first:020}{SEGMENT_SUFFIX}"


def _can_be_read(folder: Path) -> bool:
    """Whether a disk gives back what it was given, if it takes no more."""
    try:
        for path in [*folder.iterdir()]:
            if path.suffix == SEGMENT_SUFFIX:
                read_file(path, 0, 1)
    except OSError:
        return False
    return True


def _lock(folder: Path) -> locks.Lock:
    lock = locks.acquire(folder, create=True)
    if lock is None:
        raise OSError(errno.ENOLCK, "the spool folder cannot be locked")
    return lock


def read_acknowledged(folder: Path) -> int:
    """Return the number of the last frame that the tracker has; 0 if nothing says so.

    Raises OSError where that cannot be known now.
    """
    try:
        return int(read_if_there(folder / ACKNOWLEDGED_FILE))
    except ValueError:
        return 0


def write_acknowledged(folder: Path, number: int) -> None:
    """Remember it. A torn write would read as a smaller one, which costs a repeat."""
    write_file(folder / ACKNOWLEDGED_FILE, f"{number:020}".encode())


def stored_bytes(folder: Path) -> int:
    """How many bytes of frames lie in a spool folder."""
    size = 0
    for segment in folder.glob(f"*{SEGMENT_SUFFIX}"):
        # The sender may have deleted it meanwhile, because it is delivered.
        with contextlib.suppress(FileNotFoundError):
            size += segment.stat().st_size
    return size
