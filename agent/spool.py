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
import uuid
from dataclasses import asdict
from pathlib import Path

from agent import locks, messages
from agent.frames import Frame
from agent.own_files import read_file, write_file
from agent.ring import boot_id, mark_ring

SEGMENT_BYTES = 8 * 1024 * 1024
# Beyond this, new points are dropped and counted: the disk is not ours.
LARGEST_SPOOL_BYTES = 4 * 1024 * 1024 * 1024
# What is left to everybody else on the disk: so much, or of a small one a part.
_LEAST_FREE_BYTES = 1024 * 1024 * 1024
_LEAST_FREE_PART = 20
# That much may always wait, or nothing could be sent from a disk that is nearly full.
_ALWAYS_BYTES = 2 * SEGMENT_BYTES

DESCRIPTION_FILE = "spool.json"
ACKNOWLEDGED_FILE = "acknowledged"
# There once its process has written everything and ended.
COMPLETE_FILE = "complete"
SEGMENT_SUFFIX = ".frames"


class Spool:
    """The open spool of the living process."""

    def __init__(
        self,
        folder: Path,
        lock: int,
        description: bytes,
        *,
        most_bytes: int | None = None,
    ) -> None:
        self.folder = folder
        self._most_bytes = most_bytes
        self._lock = lock
        self._description = description
        self._segment: int | None = None
        self._segment_bytes = 0
        self._path: Path | None = None  # of the segment
        # Of what the kernel has, and the disk perhaps not yet.
        self._unsynced: set[Path] = set()
        self.written = 0  # the number of the last frame in the file

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
        if self._path is not None:
            self._unsynced.add(self._path)

    def sync(self) -> None:
        """Wait until all that was written survives the machine; OSError if it does not."""
        for path in [*self._unsynced]:
            # Before it is read from, so that what is written meanwhile counts anew.
            self._unsynced.discard(path)
            # Delivered and deleted, by now, it is safe elsewhere.
            with contextlib.suppress(FileNotFoundError):
                _sync(path)
                _sync(path.parent)

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
        locks.release(self._lock)

    def remove(self) -> None:
        """Delete the spool, once all of it is delivered."""
        self.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def forget(self) -> None:
        """Close the parent's file in a forked child, and touch nothing."""
        self._close_segment()

    def _append(self, segment: int, frame: bytes) -> None:
        try:
            written = os.write(segment, frame)
        except OSError:
            self._undo(segment)
            raise
        if written < len(frame):
            self._undo(segment)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def _make_room(self) -> None:
        """Delete the last file, too, if it is delivered: it may be what fills the disk."""
        if self._path is not None and read_acknowledged(self.folder) == self.written:
            self._close_segment()
            with contextlib.suppress(OSError):
                self._path.unlink()

    def _open_segment(self) -> int:
        if self._segment is not None:
            # The folder may be deleted under us; its file would swallow frames.
            is_gone = os.fstat(self._segment).st_nlink == 0
            if not is_gone and self._segment_bytes < SEGMENT_BYTES:
                return self._segment
            self._close_segment()

        if not locks.is_of(self._lock, self.folder):
            self._make_folder_again()
        self._check_room()
        name = f"{self.written + 1:020}{SEGMENT_SUFFIX}"
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
        self._path = self.folder / name
        self._segment = os.open(self._path, flags, 0o600)
        self._segment_bytes = os.fstat(self._segment).st_size
        return self._segment

    def _check_room(self) -> None:
        waiting = stored_bytes(self.folder)
        most = LARGEST_SPOOL_BYTES if self._most_bytes is None else self._most_bytes
        if waiting >= most:
            raise OSError(errno.EDQUOT, "the spool has reached its largest size")
        if waiting < _ALWAYS_BYTES:
            return
        space = os.statvfs(self.folder)
        least = min(
            _LEAST_FREE_BYTES, space.f_blocks * space.f_frsize // _LEAST_FREE_PART
        )
        if space.f_bavail * space.f_frsize < least:
            raise OSError(errno.EDQUOT, "the disk is nearly full")

    def _make_folder_again(self) -> None:
        """Make the folder that was deleted under us, or else nobody could deliver it."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_file(self.folder / DESCRIPTION_FILE, self._description)
        mark_ring(self.folder)
        before, self._lock = self._lock, _lock(self.folder)
        locks.release(before)

    def _undo(self, segment: int) -> None:
        try:
            os.ftruncate(segment, self._segment_bytes)
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
                os.close(segment)


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
    spool_id = str(uuid.uuid4())
    # Others look only at folders named by an id: made aside and locked before
    # it gets its name, a new spool is never taken for an abandoned one.
    aside = root / f".{spool_id}.new"
    aside.mkdir(mode=0o700, parents=True)
    try:
        description = json.dumps(
            {
                "version": 1,
                "url": url,
                "token_digest": token_digest,
                "origin": asdict(origin),
                # Whose locks hold: beside the host's name, which containers change.
                "boot": boot_id(),
            }
        ).encode()
        write_file(aside / DESCRIPTION_FILE, description)
        # A full disk has room to write over it, not for another file.
        write_acknowledged(aside, 0)
        lock = _lock(aside)
        folder = aside.rename(root / spool_id)
    except OSError:
        shutil.rmtree(aside, ignore_errors=True)
        raise
    spool = Spool(folder, lock, description, most_bytes=most_bytes)
    try:
        spool.write(messages.payload([messages.open_spool(origin)]))
    except OSError:
        spool.remove()
        raise
    return spool


def _sync(path: Path) -> None:
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def _lock(folder: Path) -> int:
    lock = locks.acquire(folder, create=True)
    if lock is None:
        raise OSError(errno.ENOLCK, "the spool folder cannot be locked")
    return lock


def read_acknowledged(folder: Path) -> int:
    """Return the number of the last frame that the tracker has."""
    try:
        return int(read_file(folder / ACKNOWLEDGED_FILE))
    except (OSError, ValueError):
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
