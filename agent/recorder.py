"""Turns calls into items of the buffer, and refuses what cannot be stored.

Everything here runs in the training thread, and nothing here waits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum, auto

from agent.buffer import Buffer, Item, SetValue
from agent.errors import AgentError, TooManyAttributes, TypeConflict, shown
from agent.notices import Notices
from agent.path import clean_path
from agent.values import flatten, to_value

LARGEST_RUN = 100_000  # attributes
# Whoever has read so many warnings needs no more of them.
_MOST_REFUSALS_TOLD = 50


class Kind(Enum):
    """What a path is used for; it never changes."""

    UNUSED = auto()
    VALUE = auto()
    SERIES = auto()


class Recorder:
    """The user's side of the buffer."""

    def __init__(
        self, notices: Notices, *, wake: Callable[[], bool], strict: bool
    ) -> None:
        self.notices = notices
        self.buffer = Buffer()
        # False until something takes from the buffer: asked before each put,
        # because a forked child has a buffer and no threads.
        self.is_awake = False
        self._wake = wake
        self._strict = strict
        self._kinds: dict[str, Kind] = {}
        self._refused: set[str] = set()

    def put(self, item: Item) -> None:
        """Queue one item."""
        if self.is_awake or self._wake():
            self.buffer.put(item)

    def put_all(self, items: Sequence[Item]) -> None:
        """Queue items."""
        if self.is_awake or self._wake():
            self.buffer.put_all(items)

    def set_value(self, path: str, value: object) -> None:
        """Set an attribute, or, from nested dictionaries, several."""
        try:
            leaves = list(flatten(path, value))
        except AgentError as error:
            self.refuse(error, path)
            return
        for leaf_path, leaf in leaves:
            self._set_leaf(leaf_path, leaf)

    def claim(self, path: str, kind: Kind) -> Kind:
        """Use a path for one kind of content from now on, or raise TypeConflict."""
        known = self._kinds.get(path)
        if known is None:
            if len(self._kinds) >= LARGEST_RUN:
                raise TooManyAttributes(LARGEST_RUN)
            self._kinds[path] = kind
        elif known is not kind:
            raise TypeConflict(path, is_series=known is Kind.SERIES)
        return kind

    def refuse(self, error: AgentError, path: object = "") -> None:
        """Say once why something is not stored; raise it if the run is strict."""
        if self._strict:
            raise error
        cause = f"{error.code} {shown(path)}"
        if len(self._refused) < _MOST_REFUSALS_TOLD:
            self._refused.add(cause)
        if cause in self._refused:
            self.notices.warn(cause, f"not logged: {error}")

    def start_anew(self) -> None:
        """Forget, in a forked child, what the parent will write."""
        self.buffer = Buffer()
        self.is_awake = False

    def _set_leaf(self, path: str, value: object) -> None:
        try:
            cleaned = clean_path(path)
            self.claim(cleaned, Kind.VALUE)
            self.put(SetValue(cleaned, to_value(value)))
        except AgentError as error:
            self.refuse(error, path)
