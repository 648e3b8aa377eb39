"""Media of several runs at one path and step, as cells next to each other."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from tracker.errors import NotFound
from tracker.files import downloads
from tracker.queries.compare.media import Medium, Steps
from tracker.records.search import plain
from web.figures.bars import Bars, bars_in_row
from web.pages.run_files.logs import SHOWN_CHARACTERS
from web.pages.run_files.media_items import Item, Kind, items_of
from web.pages.run_files.previews import NOTHING, TEXT_BYTES, Preview, preview

# Positions of a slider, about as many as it has pixels.
MAX_PLACES = 1_000
# Longer lists are shown on the run's own page.
MAX_ITEMS = 12


class ShownRun(Protocol):
    """A run with the name and look that it has on the page."""

    @property
    def run(self) -> Any: ...  # a row of the runs table, which pages do not import
    @property
    def name(self) -> str: ...
    @property
    def colour(self) -> str: ...
    @property
    def round(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Slider:
    """Round steps that cover the steps of all series."""

    low: float
    high: float
    width: float


@dataclass(frozen=True, slots=True)
class Cell:
    """The media of one run; `low` and `high` are the bounds of its histogram."""

    each: ShownRun
    medium: Medium | None
    text: str = ""
    is_cut: bool = False
    bars: Bars | None = None
    low: float | None = None
    high: float | None = None
    items: Sequence[Item] = ()
    item_count: int = 0
    preview: Preview = NOTHING

    @property
    def kind(self) -> str:
        return "" if self.medium is None else str(self.medium.kind)

    @property
    def count(self) -> int:
        """Return the number that selects the plural form; counts may be fractions."""
        return 1 if self.bars is not None and self.bars.count == 1 else 2

    @property
    def more(self) -> int:
        return self.item_count - len(self.items)


def cells_of(runs: Iterable[ShownRun], media: Sequence[Medium | None]) -> list[Cell]:
    """Return a cell for each run; their histograms have the same bounds."""
    drawn = bars_in_row([each.histogram for each in media if each and each.histogram])
    bars = iter(drawn.bars)
    return [
        Cell(run, medium, bars=next(bars), low=drawn.low, high=drawn.high)
        if medium and medium.histogram
        else _cell(run, medium)
        for run, medium in zip(runs, media, strict=True)
    ]


def slider_of(steps: Steps | None) -> Slider | None:
    """Return a slider of round steps; None if there is only one step."""
    span = steps.last - steps.first if steps else 0.0
    if steps is None or not 0 < span < math.inf:
        return None
    width = _round_width(span / MAX_PLACES)
    low = math.floor(steps.first / width) * width
    return Slider(low, low + math.ceil((steps.last - low) / width) * width, width)


def _round_width(least: float) -> float:
    """Return the next 1, 2 or 5 times a power of ten, at least 1 where that fits."""
    if least * MAX_PLACES >= 1:
        least = max(least, 1.0)
    power: float = 10.0 ** math.floor(math.log10(least))
    return next(power * part for part in (1, 2, 5, 10, 20) if power * part >= least)


def _cell(run: ShownRun, medium: Medium | None) -> Cell:
    if medium is None:
        return Cell(run, None)
    if medium.items:
        items = items_of(medium.items)
        shown = _preview(items[0]) if len(items) == 1 else NOTHING
        return Cell(
            run,
            medium,
            items=items[:MAX_ITEMS],
            item_count=len(items),
            preview=shown,
        )
    text = plain(medium.text.decode(errors="replace"))
    return Cell(
        run, medium, text[:SHOWN_CHARACTERS], is_cut=len(text) > SHOWN_CHARACTERS
    )


def _preview(item: Item) -> Preview:
    """Return the beginning of a text file; other files have their own presentation."""
    row = item.file
    if item.kind != Kind.OTHER or row is None:
        return NOTHING
    try:
        head = downloads.beginning(row, TEXT_BYTES)
    except NotFound:
        return NOTHING
    return preview(row.name, head, is_whole=len(head) == row.size)
