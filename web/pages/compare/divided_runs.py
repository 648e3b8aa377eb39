"""Groups runs by a value: a color, a dash or a chart for each group (pure)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext, ngettext

from web.figures.traces import RUN_COLOURS, RUN_DASHES
from web.pages.compare.cells import value_text

# Maximum number of charts per series.
CHARTS_AT_MOST = 12
# Steps of a color scale, for numbers with more values than colours.
SCALE_STEPS = 10
OTHER = "other"
# Dash of all further values.
OTHER_DASH = "longdash"

Value = float | str | None


@dataclass(frozen=True, slots=True)
class Part:
    """The runs that have the same value, by their places among all."""

    label: str
    runs: tuple[int, ...]
    number: float | None = None
    is_set: bool = True


@dataclass(frozen=True, slots=True)
class Look:
    """Style of a part, and its swatch in the legend.

    `name` is the suffix of the swatch's CSS class, `drawn` is the Plotly color or
    dash.
    """

    name: str
    drawn: str


@dataclass(frozen=True, slots=True)
class LegendEntry:
    look: Look
    label: str
    run_count: int


@dataclass(frozen=True, slots=True)
class Division:
    """The parts of the runs: numbers in order, then texts, then runs without the value."""

    path: str
    parts: tuple[Part, ...]

    @property
    def part_of(self) -> list[int]:
        """Return the index of each run's part."""
        of_run = {run: at for at, part in enumerate(self.parts) for run in part.runs}
        return [of_run[run] for run in sorted(of_run)]

    def looks(self, looks: Sequence[Look]) -> list[Look]:
        """Return the look of each run, from those of the parts."""
        return [looks[at] for at in self.part_of]


def divided(path: str, values: Sequence[Value]) -> Division:
    """Divide runs by their values; at least one part if there are runs."""
    runs: dict[Value, list[int]] = {}
    for place, value in enumerate(values):
        runs.setdefault(value, []).append(place)
    ordered = sorted(runs, key=_order)
    return Division(
        path,
        tuple(
            Part(
                label,
                tuple(runs[value]),
                value if isinstance(value, float) else None,
                is_set=value is not None,
            )
            for value, label in zip(ordered, _labels(ordered), strict=True)
        ),
    )


def _labels(values: Sequence[Value]) -> list[str]:
    """Return a label for each value; numbers in full where rounded ones are equal."""
    short = [gettext("not set") if v is None else value_text(v) for v in values]
    counts = Counter(short)
    return [
        label if counts[label] == 1 or value is None else _full(value)
        for value, label in zip(values, short, strict=True)
    ]


def _full(value: float | str) -> str:
    # Quotes distinguish the text "1" from the number.
    return f"“{value}”" if isinstance(value, str) else repr(value)


def colours_of(division: Division) -> list[Look]:
    """Return a color for each part; of very many numbers, one by their size."""
    parts = division.parts
    if len(parts) <= RUN_COLOURS:
        return [_run_colour(place) for place in range(len(parts))]
    numbers = [part.number for part in parts if part.number is not None]
    if all(part.number is not None for part in parts if part.is_set):
        return [_scale_colour(part.number, numbers) for part in parts]
    return [
        _run_colour(place) if place < RUN_COLOURS else _OTHER_COLOUR
        for place in range(len(parts))
    ]


def dashes_of(division: Division) -> list[Look]:
    """Return a dash for each part; those after the fourth share one."""
    return [
        Look(str(place), RUN_DASHES[place])
        if place < len(RUN_DASHES)
        else Look(OTHER, OTHER_DASH)
        for place in range(len(division.parts))
    ]


def legend_of(division: Division, looks: Sequence[Look]) -> list[LegendEntry]:
    """Return the legend; groups with the same look are joined."""
    shared: dict[Look, list[Part]] = {}
    for part, look in zip(division.parts, looks, strict=True):
        shared.setdefault(look, []).append(part)
    return [
        LegendEntry(look, _label(parts), sum(len(part.runs) for part in parts))
        for look, parts in shared.items()
    ]


def _label(parts: Sequence[Part]) -> str:
    if len(parts) == 1:
        return parts[0].label
    if all(part.number is not None for part in parts):
        ends = {"first": parts[0].label, "last": parts[-1].label}
        return gettext("%(first)s to %(last)s") % ends
    template = ngettext("%(count)s other value", "%(count)s other values", len(parts))
    return template % {"count": len(parts)}


def _order(value: Value) -> tuple[int, float, str]:
    if value is None:
        return 2, 0.0, ""
    return (0, value, "") if isinstance(value, float) else (1, 0.0, value)


def _run_colour(place: int) -> Look:
    return Look(str(place), f"var(--run-{place})")


_OTHER_COLOUR = Look(OTHER, "var(--color-line-strong)")


def _scale_colour(number: float | None, numbers: Sequence[float]) -> Look:
    if number is None:
        return _OTHER_COLOUR
    # Halves, because the difference of two huge numbers need not be one.
    low, high = numbers[0] / 2, numbers[-1] / 2
    step = round(SCALE_STEPS * ((number / 2 - low) / (high - low)))
    share = step / SCALE_STEPS
    if share < 1 / 2:
        mixed = f"var(--scale-middle) {share * 200:g}%, var(--scale-low)"
    else:
        mixed = f"var(--scale-high) {share * 200 - 100:g}%, var(--scale-middle)"
    return Look(f"scale-{step}", f"color-mix(in oklab, {mixed})")
