"""Which machine this is, and whether another process ran on it."""

from __future__ import annotations

import os

from seamark.queue.ring import boot_id


def host_name() -> str:
    """Return what this machine, or this container, calls itself."""
    return os.uname().nodename.encode("utf-8", "replace").decode()


def machine_id() -> str:
    """Return what tells this machine from others while it runs."""
    return boot_id() or host_name()


def is_this_machine(host: str | None, boot: str | None) -> bool:
    """Whether locks of a process with this host and boot are seen here.

    Containers have names of their own and share the machine's boot; a machine that was
    started again keeps its name. Of what nobody knows, it is believed.
    """
    if host is None and boot is None:
        return True
    return host == host_name() or (bool(boot) and boot == boot_id())
