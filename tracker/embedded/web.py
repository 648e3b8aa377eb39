"""The web application, in a process that ends with the server that started it.

Without this, granian's worker outlives a granian that is killed, and keeps the port.
"""

from __future__ import annotations

import os

from tracker.embedded.parent import die_with

die_with(os.getppid())

from tracker.wsgi import application  # noqa: E402 - tied to its parent first

__all__ = ["application"]
