"""Whether what is logged can be kept until it is delivered, and what waits."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from seamark.commands.checks import Finding, fine, note, problem
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
    """Look at the folder of the spools, at the memory before it, and at what waits."""
    root = spool_root(environment)
    place = _existing(root)
    yield _writable(root, place)
    mount = mount_below(place)
    if mount is not None and mount.is_network:
        yield note(
            "spool_file_system",
            f"the spool folder lies on a network file system ({mount.kind})",
            "its locks may not hold, and it may hang: set SEAMARK_SPOOL to a folder on "
            "a local disk",
        )
    elif mount is not None:
        yield fine("spool_file_system", f"it lies on {mount.kind}")
    yield from _space(place)
    yield _memory()
    yield from _waiting(environment, root)


def _existing(root: Path) -> Path:
    """Return the folder, or the nearest one above that is there."""
    return next(filter(_is_folder, (root, *root.parents)), Path("/"))


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:
        return False  # below a folder that may not be entered, or of an endless name


def _writable(root: Path, place: Path) -> Finding:
    try:
        with tempfile.TemporaryFile(dir=place) as file:
            file.write(b"0")
    except OSError as error:
        return problem(
            "spool",
            f"the spool folder {root} cannot be written ({error.strerror})",
            "what is logged goes to a temporary folder meanwhile: set SEAMARK_SPOOL to "
            "a folder that you may write, or make room",
        )
    return fine("spool", f"the spool folder is {root}, and can be written")


def _space(place: Path) -> Iterator[Finding]:
    try:
        free = shutil.disk_usage(place).free
    except OSError:
        return
    said = f"{free // _MIB:,} MiB are free there"
    if free < _MIN_FREE_BYTES:
        yield problem("space", said, "make room: what is logged finds none soon")
    elif free < _LITTLE_FREE_BYTES:
        yield note("space", said, "make room before the server is away for long")
    else:
        yield fine("space", said)


def _memory() -> Finding:
    why = shared_memory_problem()
    if why:
        return note(
            "shared_memory",
            f"{SHARED_MEMORY}: {why}",
            "points arrive, but kill -9 may take what was logged within the last "
            "quarter of a second; for containers, say --shm-size=1g",
        )
    return fine("shared_memory", f"{SHARED_MEMORY} has room for what kill -9 spares")


def _waiting(environment: Environment, root: Path) -> Iterator[Finding]:
    waiting = find_waiting(root)
    left = [spool for spool in waiting if not spool.is_in_use]
    if len(waiting) > len(left):
        yield fine(
            "in_use", f"processes that are logging now: {len(waiting) - len(left):,}"
        )
    if not left:
        yield fine("left", "nothing is left behind by processes that have ended")
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
            f"{_told(for_others)}, meant for {urls}",
            "go back to that server with `seamark login`, or send them to the one of "
            "the settings with `seamark sync --any-server`",
        )
    away = {spool.id for spool in find_spools(root) if may_live_elsewhere(spool)}
    elsewhere = [spool for spool in left if spool.id in away - others.keys()]
    if elsewhere:
        yield note(
            "left_elsewhere",
            f"{counted(len(elsewhere), 'spool')} of other machines, written within the"
            " last hour",
            "their processes may live; `seamark sync --any-host` delivers them all the"
            " same",
        )
    ours = [spool for spool in left if spool.id not in away | others.keys()]
    if ours:
        is_old = any((s.seconds_since_written or 0) > _OLD_SECONDS for s in ours)
        make = problem if is_old else note
        yield make("left", _told(ours), "`seamark sync` delivers them, or says why not")


def _told(spools: list[Waiting]) -> str:
    size = sum(spool.pending_bytes for spool in spools)
    ages = [s.seconds_since_written for s in spools if s.seconds_since_written]
    age = f", the oldest {max(ages) / 3600:,.1f} hours old" if ages else ""
    return f"left behind: {counted(len(spools), 'spool')} ({size:,} bytes{age})"
