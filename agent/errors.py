"""The exceptions of the agent, as one tree.

    AgentError
    ├── InvalidSetting     an argument of init(), or, if strict, of the environment
    ├── InvalidPath        the name of an attribute
    ├── UnsupportedValue   an object that cannot be stored
    ├── TypeConflict       a series used as a single value, or for another kind
    ├── TooManyAttributes  more paths than a run may have
    ├── RunFinished        writing after finish()
    ├── Rejected           data that the server rejected
    ├── RunClosed          writing to a run that is finished on the server
    ├── NotStored          a file that was waited for but not copied
    ├── CannotRead         a read request that failed
    └── NoAnswer           the server cannot be reached (internal)

After `init`, only runs with `strict=True` and functions that read data raise them.
"""

from __future__ import annotations

_LONGEST_SHOWN = 80  # characters of a name in a message


class AgentError(Exception):
    """Base class of all exceptions of the agent; `code` is stable."""

    code: str = "agent_error"


class InvalidSetting(AgentError):
    """A setting is invalid; the message names the accepted values."""

    code = "invalid_setting"

    def __init__(self, name: str, requirement: str) -> None:
        super().__init__(f"{name} {requirement}.")


class InvalidPath(AgentError):
    """The name of an attribute is invalid."""

    code = "invalid_path"

    def __init__(self, path: object, requirement: str) -> None:
        super().__init__(f"The path {shown(path)} {requirement}.")


class UnsupportedValue(AgentError):
    """An object cannot be stored."""

    code = "unsupported_value"

    def __init__(self, value: object, requirement: str) -> None:
        self._kind = _with_article(type(value).__name__)
        self._requirement = requirement
        super().__init__(f"{self._kind} {requirement}.")

    def name(self, path: object) -> None:
        """Add the attribute's path to the message; known only to the callers."""
        self.args = (f"{self._kind} for {shown(path)} {self._requirement}.",)


class TypeConflict(AgentError):
    """A path was first used for one kind of content, then for another."""

    code = "type_conflict"

    def __init__(self, path: str, *, stored: str, requested: str) -> None:
        super().__init__(
            f"{shown(path)} already contains {stored}; use another path for {requested}."
        )


class TooManyAttributes(AgentError):
    """The run has reached the maximum number of attributes."""

    code = "too_many_attributes"

    def __init__(self, limit: int) -> None:
        super().__init__(
            f"This run has {limit:,} attributes; does a name contain the step?"
        )


class Rejected(AgentError):
    """The server rejected logged data; `code` is the server's.

    Raised by the next call and by `finish()` of a strict run.
    """

    def __init__(self, path: str, code: str, message: str) -> None:
        what = f"the server rejected {shown(path) if path else 'a message'}"
        super().__init__(f"{what}: {message} ({code})")
        self.code = code
        self.path = path


class RunFinished(AgentError):
    """Data was logged after `finish()`."""

    code = "run_finished"

    def __init__(self, run: str) -> None:
        super().__init__(f"The run {shown(run)} is finished; it accepts no more data.")


class RunClosed(AgentError):
    """The run is finished on the server, and the API key may not reopen it.

    Logged data stays in the offline queue.
    """

    code = "run_closed"

    def __init__(self, run: str) -> None:
        super().__init__(
            f"The run {shown(run)} is finished, and this API key may not reopen it. Log to"
            " a run with another name, or use an API key of scope manage."
        )


class NotStored(AgentError):
    """A file that was waited for is not copied, or only some of several files are."""

    code = "not_stored"

    def __init__(self, path: str, problem: str) -> None:
        super().__init__(
            problem or f"{shown(path)} is not copied yet; stopped waiting for it"
        )


class CannotRead(AgentError):
    """The server rejected a request or did not respond; `code` is its code or no_answer.

    `retry_after` is the delay that a busy server requests, in seconds, or None.
    """

    def __init__(
        self, code: str, message: str, *, retry_after: float | None = None
    ) -> None:
        super().__init__(message)
        self.code = code
        self.retry_after = retry_after


class NoAnswer(AgentError):
    """The server could not be reached, or the response is not from a Seamark server."""

    code = "no_answer"


def _with_article(kind: str) -> str:
    if kind == "NoneType":
        return "None"
    return f"An {kind}" if kind[:1] in "aeiouAEIOU" else f"A {kind}"


def shown(value: object) -> str:
    """Return the ASCII form of a name for a message, truncated."""
    try:
        text = ascii(value)
    except Exception:  # noqa: BLE001 - the name's own code ran
        text = f"a {type(value).__name__}"
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}..."
