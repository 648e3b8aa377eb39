"""Tells the user what went wrong, once per cause."""

from __future__ import annotations

import logging

logger = logging.getLogger("seamark")
_TEXT = "%s"
# Without handlers, logging prints only the message, so the name is part of it.
_NAMED_TEXT = "seamark: %s"


class Notices:
    """Warnings that a training loop could otherwise repeat at every step."""

    def __init__(self) -> None:
        self._said: set[str] = set()

    def warn(self, cause: str, message: str) -> None:
        """Log the message unless something was said about the cause before."""
        if cause in self._said:
            return
        # Remembered first: a logging handler may log to the run again.
        self._said.add(cause)
        logger.warning(_TEXT if logger.hasHandlers() else _NAMED_TEXT, message)

    def inform(self, cause: str, message: str) -> None:
        """As `warn`, for what costs the user nothing."""
        if cause not in self._said:
            self._said.add(cause)
            logger.info("%s", message)

    def forget(self, cause: str) -> None:
        """Let the cause be warned about again: it went away in between."""
        self._said.discard(cause)
