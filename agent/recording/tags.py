"""The tags of a run."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from seamark.errors import UnsupportedValue
from seamark.path import is_encodable
from seamark.queue.buffer import TagChange
from seamark.recording.attributes import Recorder
from seamark.recording.nested import MAX_MEMBERS

_LONGEST_TAG = 1_024  # characters


class Tags:
    """Adds and removes tags; the server stores the set, shared by all processes."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder

    def add(self, *tags: str | Iterable[str]) -> None:
        """Add tags, given one by one or as lists."""
        self._change(tags, ())

    def remove(self, *tags: str | Iterable[str]) -> None:
        """Remove tags, given one by one or as lists."""
        self._change((), tags)

    def _change(self, add: Iterable[object], remove: Iterable[object]) -> None:
        self._recorder.check_open()
        change = TagChange(self._usable(add), self._usable(remove))
        if change.add or change.remove:
            self._recorder.put(change)

    def _usable(self, tags: Iterable[object]) -> frozenset[str]:
        usable = set()
        for tag in (tag for given in tags for tag in _each(given)):
            if isinstance(tag, str) and _is_tag(tag):
                usable.add(str(tag))
            else:
                requirement = f"is not a tag: text of up to {_LONGEST_TAG:,} characters"
                self._recorder.refuse(UnsupportedValue(tag, requirement), "tags")
        return frozenset(usable)


def _each(given: object) -> Iterable[object]:
    """Return the tags of a list; text and other objects are returned as one tag."""
    if isinstance(given, (str, bytes)):
        return (given,)
    try:
        # Copied with a limit: its own code runs and may never end.
        return [*islice(given, MAX_MEMBERS)]  # type: ignore[call-overload]
    except Exception:  # noqa: BLE001 - foreign code
        return (given,)


def _is_tag(text: str) -> bool:
    return 0 < len(text) <= _LONGEST_TAG and "\0" not in text and is_encodable(text)
