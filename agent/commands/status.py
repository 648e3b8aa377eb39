"""Lists what is not delivered yet.

Each line is a spool: what one process has logged. One that is in use belongs to a
process that lives and delivers it itself; what is left behind is delivered by the next
process that logs, by the server on this machine, or by `seamark sync`.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from seamark.commands.output import Refusal, clean, say, say_json
from seamark.queue import locks
from seamark.queue.blobs import Blobs
from seamark.queue.recovery import points_left
from seamark.queue.spool_reader import SpoolReader, find_spools
from seamark.servers import spool_root

HELP = "list what is not delivered"
EXAMPLES = ("seamark status", "seamark status --json")


@dataclass(frozen=True)
class Waiting:
    """What of one spool is not delivered."""

    id: str
    run: str
    is_in_use: bool
    # With the files that wait.
    pending_bytes: int
    # That no file holds yet; of a process that lives they are on their way.
    points_in_memory: int
    seconds_since_written: float | None


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--spool", type=Path, help="the folder with the spools")


def perform(chosen: argparse.Namespace) -> int:
    """List the spools and how much of each is not delivered."""
    root = folder_of(chosen)
    waiting = find_waiting(root)
    if chosen.json:
        say_json({"folder": str(root), "spools": [asdict(spool) for spool in waiting]})
        return 0
    if not waiting:
        say(f"Everything is delivered; {root} holds no spools.")
    for spool in waiting:
        state = "in use" if spool.is_in_use else "left behind"
        pending = f"{spool.pending_bytes:,} bytes"
        points = spool.points_in_memory
        more = f"  and {points:,} points in memory" if points else ""
        say(f"{spool.id}  {state:<11}  {pending:>20}  run '{clean(spool.run)}'{more}")
    return 0


def folder_of(chosen: argparse.Namespace) -> Path:
    """Return the folder with the spools, or refuse one that cannot be looked into."""
    root: Path = chosen.spool or spool_root(os.environ)
    try:
        os.scandir(root).close()
        # Their folders are seen only by who may also enter it.
        (root / "..").stat()
    except OSError as error:
        # Where nothing was ever logged, there is none of this user yet.
        if chosen.spool is None and isinstance(error, FileNotFoundError):
            return root
        message = (
            f"{clean(str(root))} cannot be looked into ({error.strerror}), so what waits "
            "there is not known; --spool names the folder with the spools."
        )
        raise Refusal("no_folder", message) from error
    return root


def find_waiting(root: Path) -> list[Waiting]:
    """Return what waits below a folder, the oldest first."""
    found = []
    for spool in find_spools(root):
        is_in_use = locks.is_held(spool.folder)
        found.append(
            Waiting(
                id=spool.id,
                run=str(spool.run),
                is_in_use=is_in_use,
                pending_bytes=spool.pending_bytes() + _bytes_of_files(spool),
                points_in_memory=0 if is_in_use else _points_in_memory(spool),
                seconds_since_written=_age(spool),
            )
        )
    return found


def _bytes_of_files(spool: SpoolReader) -> int:
    # It may be delivered, and deleted, since it was listed.
    with contextlib.suppress(OSError):
        return sum(blob.size for blob in Blobs(spool.folder).pending())
    return 0


def _points_in_memory(spool: SpoolReader) -> int:
    # Who delivers it deletes it; a listing may be older than that.
    with contextlib.suppress(OSError):
        return points_left(spool.folder)
    return 0


def _age(spool: SpoolReader) -> float | None:
    written = spool.written_at
    return None if written is None else round(max(0.0, time.time() - written), 1)
