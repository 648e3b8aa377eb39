"""Deliver orphaned queues of ended processes.

Usually not needed: the next process that logs delivers them, and so does a server on
this machine. Use it if there will be neither, or to make sure that all data is
delivered. If the server accepts nothing for half a minute, the command ends, unless
--follow is given. Undelivered queues are listed with the reason, including those that
cannot be locked, for example on a read-only disk. Undelivered data of running processes
is listed too, and is not a failure.

`--discard` deletes unwanted queues permanently, after confirmation.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path

from seamark.commands.output import (
    MISUSED,
    Refusal,
    clean,
    counted,
    print_json_rows,
    say,
)
from seamark.commands.status import find_waiting, folder_of
from seamark.queue import locks
from seamark.queue.blobs import Blobs
from seamark.queue.recovery import points_left, remove_ring
from seamark.queue.spool_reader import SpoolReader, find_spools
from seamark.servers import Server, find_server, spool_root
from seamark.upload.delivery import Outcome
from seamark.upload.orphans import Leftovers, is_meant_for, may_live_elsewhere
from seamark.upload.transport import HttpTransport
from seamark.user_warnings import Notices

HELP = "deliver orphaned queues of ended processes"
EXAMPLES = (
    "seamark sync",
    "seamark sync --spool /mnt/job-17/spool --any-server",
    "seamark sync --discard 0f8e2c4a-6d1b-4a57-9c3e-2b7d5a91f6e0",
)

_FOLLOW_SECONDS = 2.0
# How long a server that accepts nothing is retried; a busy one requests shorter waits.
_PATIENCE_SECONDS = 30.0
_NO_SERVER = "No server is configured; run `seamark login`, or set SEAMARK_URL and SEAMARK_TOKEN."


@dataclass(frozen=True)
class Left:
    """An undelivered spool, and the reason."""

    id: str
    run: str
    reason: str


class _Patience:
    """Limits how long delivery continues while the server accepts nothing."""

    def __init__(self) -> None:
        self._until = time.monotonic() + _PATIENCE_SECONDS
        self._was_taken = True

    def is_over(self, outcome: Outcome) -> bool:
        """Return whether delivery is complete or has exceeded the limit."""
        now = time.monotonic()
        is_taken = outcome.is_answered and not outcome.why
        # Twice in a row: a server that stores no part of a file may still return its
        # offset.
        if is_taken and self._was_taken:
            self._until = now + _PATIENCE_SECONDS
        self._was_taken = is_taken
        return outcome.is_done or now + outcome.wait_seconds > self._until


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--spool",
        type=Path,
        metavar="FOLDER",
        help="the folder of the offline queues",
    )
    parser.add_argument(
        "--follow", action="store_true", help="keep running until Ctrl-C"
    )
    parser.add_argument(
        "--any-server",
        action="store_true",
        help="also send data that was logged for another server",
    )
    parser.add_argument(
        "--any-host",
        action="store_true",
        help="include data that another machine wrote within the last hour, whose "
        "process may be running",
    )
    parser.add_argument(
        "--discard",
        metavar="ID",
        nargs="+",
        help="delete these queues instead of delivering them; `seamark status` "
        "lists them",
    )
    parser.add_argument(
        "--yes", action="store_true", help="delete without confirmation"
    )


def perform(chosen: argparse.Namespace) -> int:
    is_awaited = chosen.follow and chosen.spool is None
    # The user's own folder may be created, or become readable, later.
    root = spool_root(os.environ) if is_awaited else folder_of(chosen)
    if chosen.discard:
        return _discard(root, chosen)
    left = deliver(
        root,
        follow=chosen.follow,
        any_server=chosen.any_server,
        any_host=chosen.any_host,
    )
    living = [s for s in find_waiting(root) if s.is_in_use and s.pending_bytes]
    if chosen.json:
        print_json_rows(
            {
                "folder": str(root),
                "left": [asdict(spool) for spool in left],
                "in_use": [
                    {"id": s.id, "run": s.run, "pending_bytes": s.pending_bytes}
                    for s in living
                ],
            }
        )
        return 1 if left else 0
    for spool in left:
        say(f"{spool.id} is not delivered: {spool.reason} (run '{clean(spool.run)}')")
    for in_use in living:
        say(
            f"{in_use.id} is in use: its process delivers the {in_use.pending_bytes:,}"
            " bytes, unless it is offline; run this again after it has ended"
            f" (run '{clean(in_use.run)}')"
        )
    if not left and not living:
        say("All data is delivered.")
    elif not left:
        say("All data of ended processes is delivered.")
    return 1 if left else 0


def deliver(
    root: Path, *, follow: bool, any_server: bool, any_host: bool = False
) -> list[Left]:
    """Deliver orphaned spools, and return the undelivered ones."""
    server = find_server(os.environ)
    if server is None and not follow:
        raise Refusal("no_server", _NO_SERVER)
    notices = Notices()
    leftovers = Leftovers(root, notices, any_server=any_server, any_host=any_host)
    transport: HttpTransport | None = None
    patience = _Patience()
    while True:
        outcome = Outcome(is_done=True)
        if server is not None:
            transport = transport or HttpTransport(server)
            leftovers.search_again()
            outcome = leftovers.send_some(server, transport)
        if not follow and patience.is_over(outcome):
            leftovers.let_go()
            if transport is not None:
                transport.close()
            return _left(
                root,
                server,
                any_server=any_server,
                any_host=any_host,
                why=outcome.why,
            )
        time.sleep(_FOLLOW_SECONDS if outcome.is_done else outcome.wait_seconds)
        if follow and (outcome.is_done or outcome.wait_seconds):
            # The user may have corrected the address or the token.
            known, server = server, find_server(os.environ)
            if transport is not None and server != known:
                leftovers.let_go()
                transport.close()
                transport = None


def _left(
    root: Path, server: Server | None, *, any_server: bool, any_host: bool, why: str
) -> list[Left]:
    found = []
    for spool in find_spools(root):
        obstacle = locks.obstacle(spool.folder)
        # Its process delivers it, or it was just delivered.
        if isinstance(obstacle, BlockingIOError) or not spool.folder.exists():
            continue
        reason = (
            _why_left(spool, server, any_server=any_server, any_host=any_host, why=why)
            if obstacle is None
            else f"it cannot be locked: {obstacle.strerror}"
        )
        found.append(Left(spool.id, str(spool.run), reason))
    return found


def _why_left(
    spool: SpoolReader,
    server: Server | None,
    *,
    any_server: bool,
    any_host: bool,
    why: str,
) -> str:
    if not any_host and may_live_elsewhere(spool):
        return (
            f"{clean(spool.host or 'another machine')} wrote it within the last hour,"
            " where its process may still be running; --any-host delivers it anyway"
        )
    if server is not None and not any_server and not is_meant_for(spool, server):
        return f"it is meant for {spool.url}; --any-server sends it to {server.url}"
    left = spool.frames_from(spool.acknowledged + 1, most_bytes=0)
    if spool.obstacle:
        return f"it cannot be read now ({clean(spool.obstacle)})"
    if _is_in_memory_of_another(spool):
        return "a process has its points in memory; it is delivered after that process ends"
    if why:
        return f"{clean(why)}; try again later, or run `seamark doctor`"
    is_all_there = not left and not Blobs(spool.folder).pending()
    what = "the end of its process, but all other data" if is_all_there else "it"
    return f"the server did not accept {what}; run `seamark doctor`"


def _is_in_memory_of_another(spool: SpoolReader) -> bool:
    try:
        points_left(spool.folder)
    except BlockingIOError:
        return True
    except OSError:
        pass
    return False


def _discard(root: Path, chosen: argparse.Namespace) -> int:
    spools = [
        _discardable(root, spool_id, any_host=chosen.any_host)
        for spool_id in dict.fromkeys(chosen.discard)
    ]
    if not chosen.yes and not _is_agreed(spools, may_ask=not chosen.json):
        say("Nothing was deleted.")
        return 1
    with ExitStack() as locked:
        # All locks are acquired before the first is deleted.
        for spool in spools:
            locked.callback(locks.release, _lock(spool))
        for spool in spools:
            _delete(spool)
    if chosen.json:
        print_json_rows(
            {"folder": str(root), "discarded": [spool.id for spool in spools]}
        )
    else:
        for spool in spools:
            say(f"Deleted {spool.id}.")
    return 0


def _discardable(root: Path, spool_id: str, *, any_host: bool) -> SpoolReader:
    found = {spool.id: spool for spool in find_spools(root)}.get(spool_id)
    if found is None:
        raise Refusal(
            "no_spool",
            f"No queue {clean(spool_id)} in {root}; see `seamark status`.",
        )
    if locks.is_held(found.folder):
        raise Refusal("in_use", f"{found.id} is in use by a running process.")
    if not any_host and may_live_elsewhere(found):
        host = clean(found.host or "another machine")
        raise Refusal(
            "in_use",
            f"{host} wrote {found.id} within the last hour; its process may be running:"
            " pass --any-host if it is not.",
        )
    return found


def _is_agreed(spools: Sequence[SpoolReader], *, may_ask: bool) -> bool:
    if not may_ask or not sys.stdin.isatty():
        raise Refusal(
            "not_agreed",
            "Undelivered data would be deleted permanently; pass --yes to confirm.",
            MISUSED,
        )
    for spool in spools:
        files = Blobs(spool.folder).pending()
        size = spool.pending_bytes() + sum(blob.size for blob in files)
        say(
            f"{spool.id}  {size:,} bytes, including {counted(len(files), 'file')},"
            f" of run '{clean(spool.run)}'"
        )
    try:
        answer = input("Delete permanently? [y/N] ")
    except EOFError:
        return False
    return answer.strip().lower() in ("y", "yes")


def _lock(spool: SpoolReader) -> locks.Lock:
    lock = locks.acquire(spool.folder, create=True)
    if lock is None:
        obstacle = locks.obstacle(spool.folder)
        if obstacle is not None and not isinstance(obstacle, BlockingIOError):
            message = f"{spool.id} cannot be locked: {obstacle.strerror}."
            raise Refusal("cannot_delete", message)
        raise Refusal("in_use", f"{spool.id} is being delivered.")
    return lock


def _delete(spool: SpoolReader) -> None:
    # Its points in memory are deleted too.
    with contextlib.suppress(OSError):
        remove_ring(spool.folder)
    spool.remove()
    if spool.folder.exists():
        raise Refusal("cannot_delete", f"{spool.folder} cannot be deleted.")
