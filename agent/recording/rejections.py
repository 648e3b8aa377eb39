"""Reports rejected data: as a warning once per cause, or as an exception."""

from __future__ import annotations

from seamark.errors import AgentError, Rejected, UnsupportedValue, shown
from seamark.user_warnings import Notices

# More individual warnings would not be read.
_MAX_REPORTED = 50


class Refusals:
    """Warns about rejected data, or raises if the run is strict."""

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
        """Raise the error at each later call if the run is strict; return whether it
        is.
        """
        if self._strict:
            self._closed = error
        return self._strict

    def reject(self, error: Rejected) -> bool:
        """Warn; if the run is strict, raise the error at the next call and return True."""
        self.warn(error, error.path)
        if self._strict and self._rejected is None:
            self._rejected = error
        return self._strict

    def check_open(self) -> None:
        """Raise an error that the server has reported, if the run is strict."""
        if self._closed is not None:
            raise self._closed
        self.check_rejected()

    def check_rejected(self) -> None:
        """Raise a rejection by the server, once, if the run is strict."""
        error, self._rejected = self._rejected, None
        if error is not None:
            raise error

    def check(self, error: AgentError) -> None:
        """Raise an error that was already warned about, if the run is strict."""
        if self._strict:
            raise error

    def warn(self, error: AgentError, path: object) -> None:
        """Warn once about an error outside the call that caused it."""
        cause = f"{error.code} {shown(path)}"
        if len(self._causes) < _MAX_REPORTED:
            self._causes.add(cause)
        if cause in self._causes:
            self._notices.warn(cause, f"not logged: {_named(error, path)}")
        else:
            self._notices.warn(
                "refusals",
                f"more than {_MAX_REPORTED} names are not logged; further ones are not reported",
            )


def _named(error: AgentError, path: object) -> AgentError:
    # The other errors contain their path.
    if isinstance(error, UnsupportedValue) and path != "":
        error.name(path)
    return error
