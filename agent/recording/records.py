"""Records: the non-numeric values of a series.

A record is a step, a time and a small value, which is opaque in transit. The encodings
by kind are listed in docs/formats/records.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import count
from typing import NamedTuple

from seamark.errors import shown
from seamark.queue.layouts import MEASURED
from seamark.recording.media.histogram import Histogram
from seamark.recording.values import LONGEST_TEXT
from seamark.user_warnings import Notices

TEXT = "text"
HISTOGRAM = "histogram"
IMAGE = "image"
FILE = "file"

# Values that become records when they are appended; all others must be numbers.
Recorded = str | Histogram
RECORDED = (str, Histogram)

_CUT = " … [{:,} more characters]"


class Record(NamedTuple):
    """One value of a non-numeric series."""

    kind: str
    path: str
    step: float
    time: int  # microseconds since 1970
    data: bytes


class Records:
    """Creates records of appended values, and tracks the last step of each series."""

    def __init__(self, notices: Notices, *, first_step: float = 0.0) -> None:
        """Create it; `first_step` is the first automatic step of the script's series."""
        self._notices = notices
        self._first_step = first_step
        self._coming: dict[str, Iterator[float]] = {}
        self._last_steps: dict[str, float] = {}

    def made(
        self, path: str, value: Recorded, step: float | None, moment: int
    ) -> Record:
        """Return the record of a value, by default one step after the last.

        If it raises UnsupportedValue, the step is not used.
        """
        if isinstance(value, Histogram):
            kind, data = HISTOGRAM, value.encoded()
        else:
            kind, data = TEXT, self._text_data(path, value)
        return Record(kind, path, self.used_step(path, step), moment, data)

    def used_step(self, path: str, step: float | None) -> float:
        """Return the step of a new record, by default the next one."""
        if step is None:
            step = self._next_step(path)
        else:
            self._coming[path] = count(step + 1.0)
        self._last_steps[path] = step
        return step

    def next_step_of(self, path: str) -> float:
        """Return the step after the last of a series."""
        last = self._last_steps.get(path)
        return self._first_step if last is None else last + 1.0

    def _next_step(self, path: str) -> float:
        coming = self._coming.get(path)
        if coming is None:
            first = 0.0 if path.startswith(MEASURED) else self._first_step
            coming = self._coming.setdefault(path, count(first))
        # Atomic: no other thread gets the same step.
        return next(coming)

    def _text_data(self, path: str, text: str) -> bytes:
        # A subclass of str may override its text; store the plain text.
        plain = str.__str__(text)
        if len(plain) > LONGEST_TEXT:
            plain = shortened(plain)
            self._notices.warn(
                f"long text {shown(path)}",
                f"a text of {shown(path)} is longer than {LONGEST_TEXT:,} characters;"
                " only its beginning is logged",
            )
        return plain.encode("utf-8", "replace")


def shortened(text: str) -> str:
    """Return the beginning of a text that is too long, with the length of the rest."""
    kept = LONGEST_TEXT - len(_CUT.format(len(text)))
    return text[:kept] + _CUT.format(len(text) - kept)


def grouped(
    records: Iterable[Record], *, most: int, most_bytes: int
) -> Iterator[list[Record]]:
    """Yield records of one series at a time, in order, as many as fit a message."""
    series: dict[tuple[str, str], list[Record]] = {}
    for record in records:
        series.setdefault((record.kind, record.path), []).append(record)
    for some in series.values():
        yield from _fitting(some, most, most_bytes)


def _fitting(
    records: list[Record], most: int, most_bytes: int
) -> Iterator[list[Record]]:
    group: list[Record] = []
    size = 0
    for record in records:
        if group and (len(group) >= most or size + len(record.data) > most_bytes):
            yield group
            group, size = [], 0
        group.append(record)
        size += len(record.data)
    if group:
        yield group
