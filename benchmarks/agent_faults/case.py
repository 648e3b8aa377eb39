"""Input and result of a case, and the Markdown table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.load.table import Bound, Row, verdict

# Units that get worse on a busy machine.
PACES = {"s", "ms", "µs", "% of a core"}
HEADINGS = ("case", "in words", "what was done", "figures", "bound", "holds")


@dataclass(frozen=True, slots=True)
class Size:
    """How much a case does; the same case is a short test and a long benchmark."""

    folder: Path
    amount: int


@dataclass(frozen=True, slots=True)
class Found:
    """One row of the table: action, measurements, bounds."""

    done: str
    figures: Sequence[str]
    bounds: Sequence[Bound]

    @property
    def holds(self) -> bool | None:
        """False if one bound does not hold, else None if one is not shown."""
        return self._row.holds

    @property
    def verdict(self) -> str:
        return verdict(self._row)

    @property
    def _row(self) -> Row:
        return Row("", "", self.done, self.figures, self.bounds)


@dataclass(frozen=True, slots=True)
class Case:
    """A case of the table, and its default amount."""

    title: str
    run: Callable[[Size], list[Found]]
    amount: int
    unit: str


def none_of(words: str, count: int) -> Bound:
    """Something that must not happen, and how often it did."""
    return Bound(f"{words} {count:,}", not count)


def at_most(words: str, value: float, most: float, unit: str) -> Bound:
    return Bound(f"{words} ≤ {most:g} {unit}", value <= most, unit in PACES)


def not_shown(done: str, why: str) -> Found:
    """Return a row for a case that this machine cannot run."""
    return Found(done, [why], [Bound("needs another machine", None)])


def table(rows: Sequence[tuple[str, str, Found]]) -> str:
    """Return everything as one Markdown table."""
    lines = [HEADINGS, ["---"] * len(HEADINGS)]
    for name, title, found in rows:
        bounds = "; ".join(bound.words for bound in found.bounds)
        figures = "; ".join(found.figures)
        lines.append([name, title, found.done, figures, bounds, found.verdict])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
