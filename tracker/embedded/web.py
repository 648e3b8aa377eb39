"""The web application, in a process that ends with its server.

Otherwise, granian's worker outlives a killed granian and keeps the port.
"""

from __future__ import annotations

import os
import resource
from contextlib import suppress

from tracker.embedded.parent import die_with
from tracker.server.processes import MAX_CONNECTIONS

# Descriptors of databases, logs and the program itself.
OTHER_FILES = 512


def allow_open_files(count: int) -> None:
    """Raise the limit of open files to `count`, as far as the system allows.

    Each connection uses one, and the default limit is often low.
    """
    allowed, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if allowed == resource.RLIM_INFINITY:
        return
    if most != resource.RLIM_INFINITY:
        count = min(count, most)
    if count > allowed:
        # macOS may reject even an allowed value.
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (count, most))


die_with(os.getppid())
allow_open_files(MAX_CONNECTIONS + OTHER_FILES)

from tracker.wsgi import application  # noqa: E402 - tied to its parent first
from web.assets import pack_ahead_beside  # noqa: E402 - likewise

pack_ahead_beside()

__all__ = ["application"]
