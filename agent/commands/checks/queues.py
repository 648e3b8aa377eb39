"""Checks that data can be queued until delivery, and lists undelivered data."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from seamark.commands.checks.results import Finding, fine, note, problem
from seamark.commands.output import counted
from seamark.commands.status import Waiting, find_waiting
from seamark.queue.mounts import mount_below
from seamark.queue.ring import SHARED_MEMORY, shared_memory_problem
from seamark.queue.spool_reader import find_spools
from seamark.servers import Environment, find_server, spool_root
from seamark.upload.orphans import is_meant_for, may_live_elsewhere

_MIN_FREE_BYTES = 64 * 1024 * 1024
_LITTLE_FREE_BYTES = 1024 * 1024 * 1024
_MIB = 1024 * 1024
_OLD_SECONDS = 3600.0


def look_at_spools(environment: Environment) -> Iterator[Finding]:
    """Check the queue folder, shared memory, and undelivered queues."""
    root = spool_root(environment)
    place = _existing(root)
    yield _writable(root, place)
    mount = mount_below(place)
    if mount is not None and mount.is_network:
        yield note(
            "spool_file_system",
            f"the queue folder is on a network file system ({mount.kind})",
            "locks may be unreliable and I/O may hang: set SEAMARK_SPOOL to a folder on a local disk",
        )
    elif mount is not None:
        yield fine("spool_file_system", f"its file system is {mount.kind}")
    yield from _space(place)
    yield _memory()
    yield from _waiting(environment, root)


def _existing(root: Path) -> Path:
    """Return the folder, or the nearest existing one above it."""
    return next(filter(_is_folder, (root, *root.parents)), Path("/"))


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:
        return False  # its parent is inaccessible, or its name is too long


def _writable(root: Path, place: Path) -> Finding:
    try:
        with tempfile.TemporaryFile(dir=place) as file:
            file.write(b"0")
    except OSError as error:
        return problem(
            "spool",
            f"the queue folder {root} cannot be written ({error.strerror})",
            "data is stored in a temporary folder until then: set SEAMARK_SPOOL to "
            "a writable folder, or free disk space",
        )
    return fine("spool", f"the queue folder {root} is writable")


def _space(place: Path) -> Iterator[Finding]:
    try:
        free = shutil.disk_usage(place).free
    except OSError:
        return
    message = f"{free // _MIB:,} MiB free in the queue folder"
    if free < _MIN_FREE_BYTES:
        yield problem(
            "space", message, "free up disk space, or logged data will soon be lost"
        )
    elif free < _LITTLE_FREE_BYTES:
        yield note("space", message, "free up disk space before a long server outage")
    else:
        yield fine("space", message)


def _memory() -> Finding:
    why = shared_memory_problem()
    if why:
        return note(
            "shared_memory",
            f"{SHARED_MEMORY}: {why}",
            "kill -9 may lose the last quarter of a second of data; in containers, use --shm-size=1g",
        )
    return fine(
        "shared_memory", f"{SHARED_MEMORY} has enough space for the crash-safe buffer"
    )


def _waiting(environment: Environment, root: Path) -> Iterator[Finding]:
    waiting = find_waiting(root)
    left = [spool for spool in waiting if not spool.is_in_use]
    if len(waiting) > len(left):
        yield fine("in_use", f"processes logging now: {len(waiting) - len(left):,}")
    if not left:
        yield fine("left", "no orphaned queues of ended processes")
        return
    server = find_server(environment)
    others = {
        spool.id: spool.url
        for spool in find_spools(root)
        if server is not None and not is_meant_for(spool, server)
    }
    for_others = [spool for spool in left if spool.id in others]
    if for_others:
        urls = ", ".join(sorted({str(others[spool.id]) for spool in for_others}))
        yield problem(
            "left_for_others",
            f"{_summary(for_others)}, meant for {urls}",
            "return to that server with `seamark login`, or send them to the configured "
            "one with `seamark sync --any-server`",
        )
    away = {spool.id for spool in find_spools(root) if may_live_elsewhere(spool)}
    elsewhere = [spool for spool in left if spool.id in away - others.keys()]
    if elsewhere:
        yield note(
            "left_elsewhere",
            f"{counted(len(elsewhere), 'queue')} of other machines, written within the"
            " last hour",
            "their processes may be running; `seamark sync --any-host` delivers them"
            " anyway",
        )
    ours = [spool for spool in left if spool.id not in away | others.keys()]
    if ours:
        is_old = any((s.seconds_since_written or 0) > _OLD_SECONDS for s in ours)
        make = problem if is_old else note
        yield make("left", _summary(ours), "run `seamark sync` to deliver them")


def _summary(spools: list[Waiting]) -> str:
    size = sum(spool.pending_bytes for spool in spools)
    ages = [s.seconds_since_written for s in spools if s.seconds_since_written]
    age = f", the oldest {max(ages) / 3600:,.1f} hours old" if ages else ""
    return f"orphaned queues: {counted(len(spools), 'queue')} ({size:,} bytes{age})"
