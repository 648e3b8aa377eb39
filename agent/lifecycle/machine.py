"""Identifies this machine, and whether another process ran on it."""

from __future__ import annotations

import os

from seamark.queue.ring import boot_id


def host_name() -> str:
    """Return the host name of this machine or container."""
    return os.uname().nodename.encode("utf-8", "replace").decode()


def machine_id() -> str:
    """Return an identifier of this machine that is stable until it reboots."""
    return boot_id() or host_name()


def is_this_machine(host: str | None, boot: str | None) -> bool:
    """Return whether locks of a process with this host and boot are visible here.

    Containers have their own host names but share the machine's boot id; a rebooted
    machine keeps its host name. Unknown origin counts as this machine.
    """
    if host is None and boot is None:
        return True
    return host == host_name() or (bool(boot) and boot == boot_id())
