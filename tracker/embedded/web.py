"""The web application, in a process that ends with the server that started it.

Without this, granian's worker outlives a granian that is killed, and keeps the port.
"""

from __future__ import annotations

import os
import resource
from contextlib import suppress

from tracker.embedded.parent import die_with
from tracker.server.processes import MAX_CONNECTIONS

# Of databases, logs and the program itself.
OTHER_FILES = 512


def allow_open_files(wanted: int) -> None:
    """Have the system allow so many, or as many as it will.

    Each connection is one, and many systems allow a process few unless it asks.
    """
    allowed, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if allowed == resource.RLIM_INFINITY:
        return
    if most != resource.RLIM_INFINITY:
        wanted = min(wanted, most)
    if wanted > allowed:
        # macOS may refuse even what it says is allowed.
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))


die_with(os.getppid())
allow_open_files(MAX_CONNECTIONS + OTHER_FILES)

from tracker.wsgi import application  # noqa: E402 - tied to its parent first
from web.assets import pack_ahead_beside  # noqa: E402 - likewise

pack_ahead_beside()

__all__ = ["application"]
