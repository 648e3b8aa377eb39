"""Line-by-line diff of two texts, with equal parts folded (pure).

The page shows the same rows in one column or side by side.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import groupby

# Lines that stay in view around a change; a shorter stretch is not worth a fold.
CONTEXT, SHORTEST_FOLD = 3, 6
# Longer texts are compared only up to this length.
LINES_AT_MOST = 4_000
LONGEST_LINE = 1_000
# A longer one waits to be opened.
OPEN_AT_MOST = 400
SAME, ADDED, REMOVED = "same", "added", "removed"


@dataclass(frozen=True, slots=True)
class Side:
    """One line of one text; `changed` is its changed part, "" for none or all."""

    number: int
    before: str
    changed: str = ""
    after: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """Corresponding lines of both texts; one of them may be absent."""

    left: Side | None
    right: Side | None
    is_same: bool

    @property
    def left_kind(self) -> str:
        return SAME if self.is_same else REMOVED if self.left else ""

    @property
    def right_kind(self) -> str:
        return SAME if self.is_same else ADDED if self.right else ""


@dataclass(frozen=True, slots=True)
class UnifiedLine:
    kind: str
    left_number: int | None
    right_number: int | None
    side: Side


@dataclass(frozen=True, slots=True)
class Section:
    """Neighboring rows; all rows of a fold are unchanged."""

    rows: tuple[Row, ...]
    is_folded: bool

    @property
    def unified(self) -> list[UnifiedLine]:
        """Return the rows as a unified diff: the removed lines of a change first."""
        lines: list[UnifiedLine] = []
        for is_same, rows in groupby(self.rows, key=lambda row: row.is_same):
            stretch = list(rows)
            lines += _same_lines(stretch) if is_same else _changed_lines(stretch)
        return lines


@dataclass(frozen=True, slots=True)
class TextDiff:
    sections: tuple[Section, ...]
    added: int
    removed: int
    is_cut: bool  # one of the texts is longer than the compared part

    @property
    def is_same(self) -> bool:
        return not (self.added or self.removed)

    @property
    def is_open(self) -> bool:
        """Return whether the file is expanded at first: changed and not very long."""
        return 0 < self.added + self.removed <= OPEN_AT_MOST

    @property
    def lines_at_most(self) -> int:
        return LINES_AT_MOST


def compare_texts(left: str, right: str) -> TextDiff:
    """Compare two texts by their lines."""
    both = [_lines(text) for text in (left, right)]
    before, after = (lines[:LINES_AT_MOST] for lines in both)
    rows = list(_rows(before, after))
    return TextDiff(
        tuple(_folded(rows)),
        added=sum(not row.is_same and row.right is not None for row in rows),
        removed=sum(not row.is_same and row.left is not None for row in rows),
        is_cut=any(len(lines) > LINES_AT_MOST for lines in both),
    )


def _lines(text: str) -> list[str]:
    # Not splitlines: characters that are line breaks to it may stand within a line.
    lines = text.removesuffix("\n").split("\n") if text else []
    return [line.removesuffix("\r") for line in lines]


def _rows(before: Sequence[str], after: Sequence[str]) -> Iterator[Row]:
    head = _common(before, after)
    tail = _common(before[head:][::-1], after[head:][::-1])
    yield from _same(before, 0, 0, head)
    inner = SequenceMatcher(
        None, before[head : len(before) - tail], after[head : len(after) - tail]
    )
    for kind, low, high, right_low, right_high in inner.get_opcodes():
        if kind == "equal":
            yield from _same(before, head + low, head + right_low, high - low)
        else:
            yield from _changed(
                _numbered(before, head + low, head + high),
                _numbered(after, head + right_low, head + right_high),
            )
    yield from _same(before, len(before) - tail, len(after) - tail, tail)


def _common(before: Sequence[str], after: Sequence[str]) -> int:
    length = 0
    for left, right in zip(before, after, strict=False):
        if left != right:
            break
        length += 1
    return length


def _same(before: Sequence[str], left: int, right: int, count: int) -> Iterator[Row]:
    for index in range(count):
        text = _shown(before[left + index])
        yield Row(
            Side(left + index + 1, text), Side(right + index + 1, text), is_same=True
        )


def _numbered(lines: Sequence[str], low: int, high: int) -> list[tuple[int, str]]:
    return [(index + 1, lines[index]) for index in range(low, high)]


def _changed(
    removed: Sequence[tuple[int, str]], new: Sequence[tuple[int, str]]
) -> Iterator[Row]:
    """Put the lines of a change side by side, the first to the first."""
    for index in range(max(len(removed), len(new))):
        left = removed[index] if index < len(removed) else None
        right = new[index] if index < len(new) else None
        if left and right:
            yield Row(*_marked(left, right), is_same=False)
        else:
            yield Row(left and _side(left), right and _side(right), is_same=False)


def _side(line: tuple[int, str]) -> Side:
    return Side(line[0], _shown(line[1]))


def _marked(left: tuple[int, str], right: tuple[int, str]) -> tuple[Side, Side]:
    """Mark the part between the common beginning and end of two lines."""
    a, b = _shown(left[1]), _shown(right[1])
    head = _common(a, b)
    tail = _common(a[head:][::-1], b[head:][::-1])
    if not head + tail:
        return Side(left[0], a), Side(right[0], b)
    return (
        Side(left[0], a[:head], a[head : len(a) - tail], a[len(a) - tail :]),
        Side(right[0], b[:head], b[head : len(b) - tail], b[len(b) - tail :]),
    )


def _shown(line: str) -> str:
    return line if len(line) <= LONGEST_LINE else f"{line[: LONGEST_LINE - 1]}…"


def _folded(rows: Sequence[Row]) -> Iterator[Section]:
    """Fold long unchanged stretches, except some lines around each change."""
    pending: list[Row] = []
    start = 0
    for is_same, group in groupby(rows, key=lambda row: row.is_same):
        stretch = list(group)
        if is_same:
            first = 0 if start == 0 else CONTEXT
            last = 0 if start + len(stretch) == len(rows) else CONTEXT
            inner = stretch[first : len(stretch) - last]
            if len(inner) >= SHORTEST_FOLD:
                pending += stretch[:first]
                if pending:
                    yield Section(tuple(pending), is_folded=False)
                yield Section(tuple(inner), is_folded=True)
                pending = stretch[len(stretch) - last :] if last else []
            else:
                pending += stretch
        else:
            pending += stretch
        start += len(stretch)
    if pending:
        yield Section(tuple(pending), is_folded=False)


def _same_lines(rows: Iterable[Row]) -> list[UnifiedLine]:
    return [
        UnifiedLine(SAME, row.left.number, row.right.number, row.left)
        for row in rows
        if row.left and row.right
    ]


def _changed_lines(rows: Sequence[Row]) -> list[UnifiedLine]:
    removed = [row.left for row in rows if row.left]
    new = [row.right for row in rows if row.right]
    return [
        *(UnifiedLine(REMOVED, side.number, None, side) for side in removed),
        *(UnifiedLine(ADDED, None, side.number, side) for side in new),
    ]
