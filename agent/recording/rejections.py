"""Says why something is not stored: once per cause, or as an exception."""

from __future__ import annotations

from seamark.errors import AgentError, Rejected, UnsupportedValue, shown
from seamark.user_warnings import Notices

# Whoever has read so many warnings needs no more of them.
_MAX_TOLD = 50


class Refusals:
    """What was refused before."""

    def __init__(self, notices: Notices, *, strict: bool) -> None:
        self._notices = notices
        self._strict = strict
        self._causes: set[str] = set()
        self._closed: AgentError | None = None
        self._rejected: AgentError | None = None

    def refuse(self, error: AgentError, path: object) -> None:
        """Warn once, or raise the error if the run is strict."""
        if self._strict:
            raise _named(error, path)
        self.warn(error, path)

    def close(self, error: AgentError) -> bool:
        """Raise the error at each later call if the run is strict; return whether so."""
        if self._strict:
            self._closed = error
        return self._strict

    def reject(self, error: Rejected) -> bool:
        """Warn; raise the error at the next call if the run is strict, and return that."""
        self.warn(error, error.path)
        if self._strict and self._rejected is None:
            self._rejected = error
        return self._strict

    def check_open(self) -> None:
        """Raise what the server refused meanwhile, if the run is strict."""
        if self._closed is not None:
            raise self._closed
        self.check_rejected()

    def check_rejected(self) -> None:
        """Raise what the server did not store, once, if the run is strict."""
        error, self._rejected = self._rejected, None
        if error is not None:
            raise error

    def check(self, error: AgentError) -> None:
        """Raise what was warned of already if the run is strict."""
        if self._strict:
            raise error

    def warn(self, error: AgentError, path: object) -> None:
        """Warn once, outside of the call that asked for it."""
        cause = f"{error.code} {shown(path)}"
        if len(self._causes) < _MAX_TOLD:
            self._causes.add(cause)
        if cause in self._causes:
            self._notices.warn(cause, f"not logged: {_named(error, path)}")
        else:
            self._notices.warn(
                "refusals",
                f"more than {_MAX_TOLD} names are not logged; no other is told",
            )


def _named(error: AgentError, path: object) -> AgentError:
    # The others say by themselves what they are about.
    if isinstance(error, UnsupportedValue) and path != "":
        error.name(path)
    return error
