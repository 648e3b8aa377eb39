"""The web application, in a process that ends with the server that started it.

Without this, granian's worker outlives a granian that is killed, and keeps the port.
"""

from __future__ import annotations

import os
import resource

from tracker.embedded.parent import die_with

die_with(os.getppid())
# Each connection is an open file, of which many systems allow a process few unless it
# asks for more.
_, most_files = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (most_files, most_files))

from tracker.wsgi import application  # noqa: E402 - tied to its parent first

__all__ = ["application"]
