"""The main result of a profile as a sentence (pure)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from tracker.diagnosis.analysis.code_lines import LineTime

# From this share of a function's samples on, a library function is where they end.
MOSTLY = 0.5
# Fewer samples are a rough picture.
ENOUGH_SAMPLES = 50


@dataclass(frozen=True, slots=True)
class Headline:
    """The user's function with the most samples in its own lines and their calls.

    `end` is the library function in which most of them end, or "".
    """

    function: str
    file: str
    first_line: int
    last_line: int
    share: float
    end: str

    @property
    def place(self) -> str:
        """Return the file with the lines that have samples: data.py:20–22."""
        if self.first_line == self.last_line:
            return f"{self.file}:{self.first_line}"
        return f"{self.file}:{self.first_line}–{self.last_line}"


def headline_of(lines: Sequence[LineTime]) -> Headline | None:
    """Return None if no sample is in the user's code."""
    counts: Counter[tuple[str, str]] = Counter()
    for row in lines:
        if row.line:
            counts[row.file, row.function] += row.samples
    if not counts:
        return None
    ((file, function), samples), *_ = counts.most_common(1)
    found = [row for row in lines if (row.file, row.function) == (file, function)]
    numbers = [row.line for row in found]
    return Headline(
        function=function,
        file=file,
        first_line=min(numbers),
        last_line=max(numbers),
        share=sum(row.share for row in found),
        end=_main_end(found, samples),
    )


def _main_end(rows: Sequence[LineTime], samples: int) -> str:
    ends: Counter[str] = Counter()
    for row in rows:
        for end in row.ends:
            ends[end.name] += end.samples
    ((name, count),) = ends.most_common(1) or [("", 0)]
    return name if count >= MOSTLY * samples else ""
