"""Opens the session of a run: finds a writable folder, and warns about the environment."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import NamedTuple

from seamark.hints import command_line
from seamark.lifecycle.bounded_io import within
from seamark.lifecycle.machine import host_name
from seamark.lifecycle.session import OPEN_SECONDS, Session
from seamark.messages import Origin
from seamark.probes.probe import ANY_JOB
from seamark.queue.folders import Place, places
from seamark.queue.mounts import Mount, mount_below
from seamark.queue.ring import Ring, create_ring
from seamark.queue.spool import Spool, create_spool
from seamark.recording.attributes import Recorder
from seamark.servers import find_server, find_url
from seamark.settings import Mode, Settings
from seamark.user_warnings import Notices
from seamark.version import VERSION


class _Opened(NamedTuple):
    """A new spool with its ring buffer, mount and server."""

    spool: Spool
    ring: Ring | None
    mount: Mount | None
    knows_server: bool
    server_url: str | None


def open_session(
    settings: Settings,
    recorder: Recorder,
    notices: Notices,
    find_data: Callable[[], Path | None] = ANY_JOB.find_data,
) -> Session | None:
    """Open a session without starting it; None, with a warning, if no folder is
    writable.

    `find_data` returns the folder of the training data, once it is known.
    """
    others = places(settings.spool)
    opened = _open_spool(settings, others, notices)
    if opened is None:
        return None
    spool = opened.spool
    if settings.mode is Mode.ONLINE and not opened.knows_server:
        notices.warn(
            "no server",
            "no server is configured; all data is kept in "
            f"{spool.folder} until you run `seamark login` or start a server on this "
            "machine (or set SEAMARK_URL and SEAMARK_TOKEN)",
        )
    if not settings.is_named:
        _warn_of_name(settings, notices)
    if opened.mount is not None and opened.mount.is_network:
        notices.warn(
            "network file system",
            f"the queue folder {spool.folder.parent} is on a network file system"
            f" ({opened.mount.kind}), which may hang and have unreliable locks; set"
            " SEAMARK_SPOOL to a folder on a local disk",
        )
    return Session(
        settings,
        recorder,
        notices,
        spool,
        opened.ring,
        find_data=find_data,
        places_left=others,
        url=_page_url(settings, opened),
    )


def _page_url(settings: Settings, opened: _Opened) -> str | None:
    """Return an address that the server redirects to the run's page."""
    if settings.mode is not Mode.ONLINE or opened.server_url is None:
        return None
    return f"{opened.server_url}/r/{opened.spool.folder.name}"


def _warn_of_name(settings: Settings, notices: Notices) -> None:
    """Warn about processes that cannot join the run because it is unnamed."""
    name = "name the run in the job's script, for example with SEAMARK_RUN"
    if settings.resumed_at is not None:
        notices.warn(
            "unnamed",
            "this job was restarted, but its run has no fixed name, so"
            f" {settings.run} is a new one; {name}",
        )
    is_first = settings.rank == 0 and not settings.is_helper
    if settings.world_size > 1 and is_first:
        notices.warn(
            "unnamed ranks",
            f"each of {settings.world_size:,} processes creates its own run,"
            f" {settings.run} here, because the run has no common name; {name}",
        )
    if settings.is_imported_again:
        notices.warn(
            "unnamed again",
            "this multiprocessing child has imported the script again and logs to"
            f" its own run, {settings.run}, because its parent's run is unnamed; name it, or"
            ' start it under `if __name__ == "__main__":` and pass it to the child',
        )


def _open_spool(
    settings: Settings, to_try: Iterator[Place], notices: Notices
) -> _Opened | None:
    origin = Origin(
        project=settings.project,
        run=settings.run,
        stage=settings.stage,
        rank=settings.rank,
        host=host_name(),
        pid=os.getpid(),
        agent=VERSION,
        time=time.time_ns() // 1000 if settings.began_at is None else settings.began_at,
        is_helper=settings.is_helper,
        is_resuming=settings.resumed_at is not None,
        parent=settings.parent,
        fork_from=settings.fork_from,
        fork_step=settings.fork_step,
    )
    environment: Mapping[str, str] = os.environ
    reason: OSError | None = None
    for place in to_try:
        make = partial(_opened_at, place, settings, origin, environment)
        try:
            opened = within(OPEN_SECONDS, make, _unmake)
        except TimeoutError as error:
            reason = reason or error
            # The files with the server's address and token are usually on the same file
            # system.
            nothing = dict.fromkeys(
                ("SEAMARK_CONFIG", "SEAMARK_TOKEN_FILE"), os.devnull
            )
            environment = {**environment, **nothing}
        except OSError as error:
            reason = reason or error
        else:
            if reason is not None:
                _warn_of_fallback_folder(settings.spool, reason, opened.spool, notices)
            # The server's files were not read, so a server may be configured.
            is_own_environment = environment is os.environ
            return opened._replace(
                knows_server=opened.knows_server or not is_own_environment
            )
    notices.warn("spool", f"nothing is logged: no folder is writable ({reason})")
    return None


def _opened_at(
    place: Place, settings: Settings, origin: Origin, environment: Mapping[str, str]
) -> _Opened:
    """Make a spool at a place; all blocking file system calls happen here."""
    server = find_server(environment)
    most_bytes = settings.spool_points_bytes
    spool = create_spool(
        place.root(),
        origin,
        url=find_url(environment),
        token_digest=server.token_digest if server else None,
        most_bytes=place.at_most(most_bytes),
    )
    return _Opened(
        spool,
        create_ring(spool.folder),
        mount_below(spool.folder),
        knows_server=server is not None,
        server_url=server.url if server else None,
    )


def _unmake(opened: _Opened) -> None:
    if opened.ring is not None:
        opened.ring.remove()
    opened.spool.remove()


def _warn_of_fallback_folder(
    chosen: Path, reason: OSError, spool: Spool, notices: Notices
) -> None:
    root = spool.folder.parent
    notices.warn(
        "spool",
        f"the queue folder {chosen} cannot be written ({reason}); "
        f"using {root}; if the data is not delivered in time, run "
        f"`{command_line(f'sync --spool {root}')}`",
    )
