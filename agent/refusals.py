"""Says why something is not stored: once per cause, or as an exception."""

from __future__ import annotations

from agent.errors import AgentError, shown
from agent.notices import Notices

# Whoever has read so many warnings needs no more of them.
_MOST_TOLD = 50


class Refusals:
    """What was refused before."""

    def __init__(self, notices: Notices, *, strict: bool) -> None:
        self._notices = notices
        self._strict = strict
        self._causes: set[str] = set()

    def refuse(self, error: AgentError, path: object) -> None:
        """Warn once, or raise the error if the run is strict."""
        if self._strict:
            raise error
        self.warn(error, path)

    def warn(self, error: AgentError, path: object) -> None:
        """Warn once, outside of the call that asked for it."""
        cause = f"{error.code} {shown(path)}"
        if len(self._causes) < _MOST_TOLD:
            self._causes.add(cause)
        if cause in self._causes:
            self._notices.warn(cause, f"not logged: {error}")
