"""Writes the spool of this process: segments of frames in a separate folder.

A frame is written by one system call, so a killed process loses only data that it had
not yet written. Each frame number is used once.
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
# Above this, new points are dropped and counted, to leave room on the disk.
LARGEST_SPOOL_BYTES = 4 * 1024 * 1024 * 1024
# Free space left for other programs: this much, or a share of a small disk.
_MIN_FREE_BYTES = 1024 * 1024 * 1024
_MIN_FREE_PART = 20
# Always allowed, so that data can still be sent from a nearly full disk.
_ALWAYS_BYTES = 2 * SEGMENT_BYTES

_TIDY_SECONDS = 0.1

DESCRIPTION_FILE = "spool.json"
ACKNOWLEDGED_FILE = "acknowledged"
# Exists once the process has written everything and ended.
COMPLETE_FILE = "complete"
SEGMENT_SUFFIX = ".frames"


class SpoolFull(OSError):
    """The spool has reached the agent's own limits; the disk works."""


class Refuge(NamedTuple):
    """A fallback folder in which a spool continues when its own folder fails."""

    folder: Path
    lock: locks.Lock
    most_bytes: int | None
    first: int  # the first frame stored in it
    can_be_read: bool  # whether the previous folder is readable

    def remove(self) -> None:
        """Delete it, because it was created too late."""
        locks.release(self.lock)
        shutil.rmtree(self.folder, ignore_errors=True)


class _Left(NamedTuple):
    """A folder that a spool has left."""

    folder: Path
    lock: locks.Lock
    is_needed: bool  # for frames that are stored only there
    is_whole: bool  # whether nothing in it was given up


class Spool:
    """The open spool of the live process."""

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
        # Files with data that may not be on the disk yet.
        self._unsynced: set[Path] = set()
        self._synced_folder: Path | None = None  # the folder whose own name is synced
        self._syncing = threading.Lock()
        self.written = 0  # the number of the last frame in the file
        self.delivered = 0  # the number of the last frame that the server has
        self.recent = RecentFrames()
        # Unreadable frames up to this one are counted as dropped.
        self.given_up = 0
        self._left: list[_Left] = []

    @property
    def moves(self) -> int:
        """How often it moved to another folder."""
        return len(self._left)

    @property
    def folders_to_read(self) -> list[Path]:
        """The folders it has left that hold readable frames stored only there."""
        return [left.folder for left in self._left if left.is_needed]

    @property
    def newest_segment(self) -> Path | None:
        """The file that frames are appended to, if any."""
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
        """Note that the server has everything up to this frame."""
        if number != self.delivered:
            self.delivered = number
            self.recent.forget(number)

    def make_refuge(self, place: Place) -> Refuge:
        """Create a folder of the same name at another place; raises OSError.

        It is created with the undelivered frames that are in memory.
        """
        # Read first: more may be delivered meanwhile, never less.
        next_frame = self.delivered + 1
        frames = self.recent.frames()
        first = frames[0].number if frames else self.written + 1
        folder, lock = _made(
            place.root(), self.folder.name, self._description, next_frame - 1, frames
        )
        can_be_read = first > next_frame and _can_be_read(self.folder)
        most_bytes = place.at_most(self._most_bytes)
        return Refuge(folder, lock, most_bytes, first, can_be_read)

    def go_on_in(self, refuge: Refuge) -> int:
        """Move to another folder; return how many points have become unreadable.

        The spool keeps its id and numbers, so the server notices nothing, and nothing
        is stored twice.
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
        """Sync all written data to disk; raises OSError."""
        # A second caller waits for the data that the first is syncing.
        with self._syncing:
            for path in [*self._unsynced]:
                # Removed before the sync, so that later writes add it again.
                self._unsynced.discard(path)
                # If it was delivered and deleted meanwhile, it is safe on the server.
                with contextlib.suppress(FileNotFoundError):
                    sync(path)
                    sync(path.parent)
                    self._sync_name(path.parent)

    def _sync_name(self, folder: Path) -> None:
        """Sync the folder's own name and its description."""
        # Once, because the name never changes; not at creation, because init() waits
        # for it.
        if folder != self._synced_folder:
            sync(folder / DESCRIPTION_FILE)
            sync(folder.parent)
            self._synced_folder = folder

    def show_life(self) -> None:
        """Show other machines, which may not see the lock, that the process is alive."""
        with contextlib.suppress(OSError):
            os.utime(self.folder / locks.LOCK_FILE, follow_symlinks=False)

    def close(self, *, is_complete: bool = False) -> None:
        """Close the files and release the spool for delivery.

        If it is not complete, other machines wait: the rest may be in this one's
        memory.
        """
        self._close_segment()
        if is_complete:
            with contextlib.suppress(OSError):
                write_file(self.folder / COMPLETE_FILE, b"")
        for lock in (self._lock, *(left.lock for left in self._left)):
            locks.release(lock)

    def remove(self) -> None:
        """Delete the spool after its delivery."""
        self.close()
        shutil.rmtree(self.folder, ignore_errors=True)
        # Folders with unreadable frames stay: they may become readable.
        for left in [left.folder for left in self._left if left.is_whole]:
            # Does not wait for a failed disk.
            with contextlib.suppress(TimeoutError):
                within(_TIDY_SECONDS, partial(shutil.rmtree, left, ignore_errors=True))

    def forget(self) -> None:
        """Close the parent's file in a forked child without changing anything."""
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
        """Delete the last file if it is delivered: it may fill the disk."""
        with contextlib.suppress(OSError):
            is_delivered = read_acknowledged(self.folder) == self.written
            if self._path is not None and is_delivered:
                self._close_segment()
                self._path.unlink()

    def _open_segment(self) -> Descriptor:
        if self._segment is not None:
            found = self._segment.stat()
            # The folder may have been deleted; writing to its file would lose frames.
            is_there = found is not None and found.st_nlink > 0
            # If the lock is lost, another process may deliver and delete the spool.
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
            raise SpoolFull(errno.EDQUOT, "it has reached its maximum size")
        if waiting < _ALWAYS_BYTES:
            return
        space = os.statvfs(self.folder)
        least = min(_MIN_FREE_BYTES, space.f_blocks * space.f_frsize // _MIN_FREE_PART)
        if space.f_bavail * space.f_frsize < least:
            raise SpoolFull(errno.EDQUOT, "the disk is nearly full")

    def _make_folder_again(self) -> None:
        """Recreate the deleted folder; otherwise its frames would never be delivered."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_file(self.folder / DESCRIPTION_FILE, self._description)
        mark_ring(self.folder, self.moves)
        before, self._lock = self._lock, _lock(self.folder)
        # If the old lock was closed, its number may now belong to the new one.
        if before != self._lock:
            locks.release(before)

    def _undo(self, segment: Descriptor) -> None:
        try:
            if segment.stat() is None:
                self._segment = None
                return
            os.ftruncate(segment.number, self._segment_bytes)
        except OSError:
            # A partial frame stays, and readers skip it; but the file's length is
            # unknown.
            self._close_segment()
            raise

    def _close_segment(self) -> None:
        segment, self._segment = self._segment, None
        if segment is not None:
            # A network file system may report errors only at close; the file is closed
            # anyway.
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
    """Create a new spool under `root`, with its first frame; raises OSError.

    The address and the token's digest, if known, identify the server it is meant for.
    `most_bytes` limits the queued frames.
    """
    description = json.dumps(
        {
            "version": 1,
            "url": url,
            "token_digest": token_digest,
            "origin": origin.stored(),
            # Identifies the machine whose locks are visible; host names change in
            # containers.
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
    """Create and lock the folder of a spool."""
    # Only folders named by an id are delivered. A new spool is locked before it gets
    # its name, so it never looks orphaned.
    aside = root / f".{spool_id}.new"
    aside.mkdir(mode=0o700, parents=True)
    lock = None
    try:
        write_file(aside / DESCRIPTION_FILE, description)
        # Created now: a full disk allows overwriting it, but no new file.
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
    """Return whether a disk that accepts no writes is still readable."""
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
        raise OSError(errno.ENOLCK, "the queue folder cannot be locked")
    return lock


def read_acknowledged(folder: Path) -> int:
    """Return the number of the last frame that the server has; 0 if unknown.

    Raises OSError if it cannot be read now.
    """
    try:
        return int(read_if_there(folder / ACKNOWLEDGED_FILE))
    except ValueError:
        return 0


def write_acknowledged(folder: Path, number: int) -> None:
    """Store the number. A torn write reads as a smaller one and causes a repeat."""
    write_file(folder / ACKNOWLEDGED_FILE, f"{number:020}".encode())


def stored_bytes(folder: Path) -> int:
    """Return the bytes of frames in a spool folder."""
    size = 0
    for segment in folder.glob(f"*{SEGMENT_SUFFIX}"):
        # The sender may have deleted it after delivery.
        with contextlib.suppress(FileNotFoundError):
            size += segment.stat().st_size
    return size
