"""List undelivered data.

Each line is the queue of one process. A queue in use belongs to a running
process, which delivers it itself; an orphaned one is delivered by the next process that
logs, by the server on this machine, or by `seamark sync`.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from seamark.commands.output import Refusal, clean, print_json_rows, say
from seamark.queue import locks
from seamark.queue.blobs import Blobs
from seamark.queue.recovery import points_left
from seamark.queue.spool_reader import SpoolReader, find_spools
from seamark.servers import spool_root

HELP = "list undelivered data"
EXAMPLES = ("seamark status", "seamark status --json")


@dataclass(frozen=True)
class Waiting:
    """The undelivered data of one spool."""

    id: str
    run: str
    is_in_use: bool
    # Includes queued files.
    pending_bytes: int
    # Points that are not in a file yet; a live process is still writing them.
    points_in_memory: int
    seconds_since_written: float | None


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--spool",
        type=Path,
        metavar="FOLDER",
        help="the folder of the offline queues",
    )


def perform(chosen: argparse.Namespace) -> int:
    """List the spools with their undelivered bytes."""
    root = folder_of(chosen)
    waiting = find_waiting(root)
    if chosen.json:
        print_json_rows(
            {"folder": str(root), "spools": [asdict(spool) for spool in waiting]}
        )
        return 0
    if not waiting:
        say(f"All data is delivered; no queues in {root}.")
    for spool in waiting:
        state = "in use" if spool.is_in_use else "orphaned"
        pending = f"{spool.pending_bytes:,} bytes"
        points = spool.points_in_memory
        more = f"  and {points:,} points in memory" if points else ""
        say(f"{spool.id}  {state:<11}  {pending:>20}  run '{clean(spool.run)}'{more}")
    return 0


def folder_of(chosen: argparse.Namespace) -> Path:
    """Return the folder of the queues; raises Refusal if it is not accessible."""
    root: Path = chosen.spool or spool_root(os.environ)
    try:
        os.scandir(root).close()
        # Listing subfolders needs the permission to enter the folder.
        (root / "..").stat()
    except OSError as error:
        # If nothing was ever logged, the default folder does not exist.
        if chosen.spool is None and isinstance(error, FileNotFoundError):
            return root
        message = (
            f"{clean(str(root))} cannot be read ({error.strerror}), so undelivered data "
            "is unknown; --spool names the folder of the queues."
        )
        raise Refusal("no_folder", message) from error
    return root


def find_waiting(root: Path) -> list[Waiting]:
    """Return the undelivered spools in a folder, oldest first."""
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
    # It may have been delivered and deleted since the listing.
    with contextlib.suppress(OSError):
        return sum(blob.size for blob in Blobs(spool.folder).pending())
    return 0


def _points_in_memory(spool: SpoolReader) -> int:
    # It may have been delivered and deleted since the listing.
    with contextlib.suppress(OSError):
        return points_left(spool.folder)
    return 0


def _age(spool: SpoolReader) -> float | None:
    written = spool.written_at
    return None if written is None else round(max(0.0, time.time() - written), 1)
