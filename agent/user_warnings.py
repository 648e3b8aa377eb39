"""Warns the user, once per cause."""

from __future__ import annotations

import logging

logger = logging.getLogger("seamark")
_TEXT = "%s"
# Without handlers, logging prints only the message, so the name is part of it.
_NAMED_TEXT = "seamark: %s"


class Notices:
    """Warnings that a training loop could otherwise repeat at every step."""

    def __init__(self) -> None:
        self._reported: set[str] = set()

    def warn(self, cause: str, message: str) -> None:
        """Log the message unless the cause was reported before."""
        if cause in self._reported:
            return
        # Added first: a logging handler may log to the run again.
        self._reported.add(cause)
        logger.warning(_TEXT if logger.hasHandlers() else _NAMED_TEXT, message)

    def inform(self, cause: str, message: str) -> None:
        """Log at info level, once per cause, for events without loss of data."""
        if cause not in self._reported:
            self._reported.add(cause)
            logger.info("%s", message)

    def forget(self, cause: str) -> None:
        """Allow the cause to be reported again after it was resolved."""
        self._reported.discard(cause)
