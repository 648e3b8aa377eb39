"""What the agent raises, as one tree.

    AgentError
    ├── InvalidSetting     an argument of init(), or, if strict, of the environment
    ├── InvalidPath        the name of an attribute
    ├── UnsupportedValue   something that is neither a number nor a value
    ├── TypeConflict       a series used as a single value, or for another kind
    ├── TooManyAttributes  more paths than a run may have
    ├── RunFinished        writing after finish()
    ├── Rejected           something that the server refused to store
    ├── RunClosed          writing to a run that is finished on the server
    ├── NotStored          a file that was waited for, and is not copied
    ├── CannotRead         what was asked for cannot be read back
    └── NoAnswer           the tracker cannot be reached (never leaves the agent)

After `init` only a run that was made with `strict=True` raises them, and what reads.
"""

from __future__ import annotations

_LONGEST_SHOWN = 80  # characters of a name in a message


class AgentError(Exception):
    """Base of everything the agent raises; `code` never changes."""

    code: str = "agent_error"


class InvalidSetting(AgentError):
    """A setting cannot be used; the message says what is accepted."""

    code = "invalid_setting"

    def __init__(self, name: str, requirement: str) -> None:
        super().__init__(f"{name} {requirement}.")


class InvalidPath(AgentError):
    """The name of an attribute cannot be used."""

    code = "invalid_path"

    def __init__(self, path: object, requirement: str) -> None:
        super().__init__(f"The path {shown(path)} {requirement}.")


class UnsupportedValue(AgentError):
    """Something cannot be stored."""

    code = "unsupported_value"

    def __init__(self, value: object, requirement: str) -> None:
        self._kind = _with_article(type(value).__name__)
        self._requirement = requirement
        super().__init__(f"{self._kind} {requirement}.")

    def name(self, path: object) -> None:
        """Say what it was to be stored as; known further out than where it is raised."""
        self.args = (f"{self._kind} for {shown(path)} {self._requirement}.",)


class TypeConflict(AgentError):
    """A path was first used for one kind of content, and then for another."""

    code = "type_conflict"

    def __init__(self, path: str, *, held: str, meant: str) -> None:
        super().__init__(
            f"{shown(path)} already holds {held}; name {meant} differently."
        )


class TooManyAttributes(AgentError):
    """The run holds as many attributes as a run may have."""

    code = "too_many_attributes"

    def __init__(self, limit: int) -> None:
        super().__init__(
            f"This run has {limit:,} attributes; does a name contain the step?"
        )


class Rejected(AgentError):
    """The server refused to store something that was logged; `code` is the server's.

    Raised by the next call and by `finish()` of a strict run.
    """

    def __init__(self, path: str, code: str, message: str) -> None:
        what = f"the server rejected {shown(path) if path else 'a message'}"
        super().__init__(f"{what}: {message} ({code})")
        self.code = code
        self.path = path


class RunFinished(AgentError):
    """Something was logged after `finish()`."""

    code = "run_finished"

    def __init__(self, run: str) -> None:
        super().__init__(f"The run {shown(run)} is finished; nothing more is logged.")


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
    """A file was to be waited for, and is not copied, or not all of several."""

    code = "not_stored"

    def __init__(self, path: str, problem: str) -> None:
        super().__init__(
            problem or f"{shown(path)} is not copied yet, and no longer waited for"
        )


class CannotRead(AgentError):
    """The server refused, or did not answer; `code` is the server's, or no_answer.

    A server that is busy says after how many seconds to ask again; None: it does not.
    """

    def __init__(
        self, code: str, message: str, *, retry_after: float | None = None
    ) -> None:
        super().__init__(message)
        self.code = code
        self.retry_after = retry_after


class NoAnswer(AgentError):
    """The tracker could not be reached or did not answer as a tracker does."""

    code = "no_answer"


def _with_article(kind: str) -> str:
    if kind == "NoneType":
        return "None"
    return f"An {kind}" if kind[:1] in "aeiouAEIOU" else f"A {kind}"


def shown(value: object) -> str:
    """How a name of unknown content and length appears in a message."""
    try:
        text = ascii(value)
    except Exception:  # noqa: BLE001 - the name's own code ran
        text = f"a {type(value).__name__}"
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}..."
