"""The state of a comparison, as stored in its address: runs, colors, tab, options."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.http import QueryDict

from tracker.errors import InvalidInput
from tracker.queries.compare.comparison import RUNS_AT_MOST
from tracker.short_ids import read_id
from web.figures.smoothing import EMA, GAUSSIAN, MAX_SMOOTHING, MEAN, STEP_EMA
from web.pages.charts.arrangement import read_arrangement
from web.texts import gettext_lazy

TABS = {
    "charts": gettext_lazy("Charts"),
    "table": gettext_lazy("Side by side"),
    "media": gettext_lazy("Media"),
    "source": gettext_lazy("Source"),
    "parallel": gettext_lazy("Parallel coordinates"),
    "scatter": gettext_lazy("Scatter"),
    "importance": gettext_lazy("Importance"),
    "hardware": gettext_lazy("Hardware"),
    "findings": gettext_lazy("Findings"),
}
# Tabs that show only measurements and the parts of a share link; and those that place
# runs by their values.
SHARED_TABS = ("charts", "table", "media", "hardware", "findings")
TABS_OF_VALUES = ("parallel", "scatter", "importance")
# Tabs where `colour` selects the meaning of colors.
TABS_COLOURED_BY = ("charts", "parallel", "scatter")
AXES = {
    "step": gettext_lazy("Step"),
    "relative": gettext_lazy("Relative time"),
    "time": gettext_lazy("Time"),
}
ALIGNMENTS = {
    "run": gettext_lazy("Since run start"),
    "stage": gettext_lazy("Since stage start"),
    "step": gettext_lazy("By step"),
}
SMOOTHERS = {
    EMA: gettext_lazy("Exponential"),
    STEP_EMA: gettext_lazy("Exponential, step-weighted"),
    GAUSSIAN: gettext_lazy("Gaussian"),
    MEAN: gettext_lazy("Running average"),
}
VIEWS = {"unified": gettext_lazy("Unified"), "split": gettext_lazy("Side by side")}

# Fields that name parameters and other values of runs.
OF_VALUES = (
    *("together", "colour", "dash", "chart"),
    *("dimensions", "brushes", "x", "y", "size", "log_x", "log_y"),
)
# Address parameters with the names of the fields: texts, flags ("1"), choices, and run
# IDs.
_TEXTS = (
    *("over", "together", "dash", "chart", "text", "stage", "group"),
    *("colour", "x", "y", "size", "query"),
)
_TICKS = ("log", "logx", "clip", "bare", "regex", "log_x", "log_y", "among")
_CHOICES = {
    "tab": TABS,
    "axis": AXES,
    "smoother": SMOOTHERS,
    "view": VIEWS,
    "align": ALIGNMENTS,
}
_OF_RUNS = ("reference", "left", "right")

TEXT_LENGTH = 2_048
DIMENSIONS_AT_MOST = 12
# Length of an invalid run ID in the error text.
SHOWN_OF_UNKNOWN = 40
_BRUSH_PARTS = 3


@dataclass(frozen=True, slots=True)
class Brush:
    """A stretch of an axis of parallel coordinates; runs outside are shown pale."""

    path: str
    low: float
    high: float

    @property
    def text(self) -> str:
        return f"{self.low:.12g}:{self.high:.12g}:{self.path}"


@dataclass(frozen=True, slots=True)
class CompareState:
    """State of the comparison page; all fields have defaults, so any address works.

    A slot is the index of a run's colour. A run keeps it when others are removed, so
    that colors do not change.
    """

    runs: tuple[UUID, ...] = ()
    slots: tuple[int, ...] = ()  # as the runs; empty: their positions
    hidden: tuple[int, ...] = ()  # slots of runs that are listed and not drawn
    reference: UUID | None = None
    tab: str = "charts"
    axis: str = "step"
    over: str = ""  # path of the series on the x axis, if any
    smoothing: float = 0.0
    smoother: str = EMA
    log: bool = False
    logx: bool = False  # x of charts; `log_x` is that of the scatter plot
    clip: bool = False
    bare: bool = False  # hide annotations and notes
    low: float | None = None  # the part of the axis that charts are zoomed to
    high: float | None = None
    together: str = ""  # runs with the same value of this are one line
    dash: str = ""  # and those have the same dash
    chart: str = ""  # and those share a chart
    everything: bool = False  # rows that do not differ, too
    text: str = ""  # part of the paths to show
    regex: bool = False  # an expression that they match
    at: float | None = None  # the step at which media are shown; None: the last one
    left: UUID | None = None  # the two runs whose sources are compared
    right: UUID | None = None
    view: str = "unified"
    stage: str = ""
    align: str = "run"
    group: str = ""  # group of hardware rows
    dimensions: tuple[str, ...] = ()  # axes of parallel coordinates
    brushes: tuple[Brush, ...] = ()
    colour: str = ""  # path that colors lines and points
    x: str = ""
    y: str = ""
    size: str = ""
    log_x: bool = False
    log_y: bool = False
    among: bool = False  # with all other runs of the project
    query: str = ""  # filter of those runs
    layout: str = ""  # how charts are arranged, if not as their reader left them
    unreadable: tuple[str, ...] = ()  # parts of `runs` that are no ID
    left_out: int = 0  # runs above the maximum

    @property
    def address(self) -> str:
        """Return the query string of this state, without defaults."""
        # Commas need no escape, and a hundred ids have as many of them.
        return urlencode(list(self._parameters()), safe=",")

    @property
    def parameters(self) -> list[tuple[str, str]]:
        """Return the same as pairs, for the hidden fields of a form."""
        return list(self._parameters())

    @property
    def step_text(self) -> str:
        return "" if self.at is None else repr(self.at).removesuffix(".0")

    @property
    def is_coloured_by_run(self) -> bool:
        """Return whether colors mean runs, not values, on the open tab."""
        is_by_value = self.colour and self.tab in TABS_COLOURED_BY
        return not (is_by_value or (self.together and self.tab == "charts"))

    @property
    def slot_of(self) -> dict[UUID, int]:
        slots = self.slots or tuple(range(len(self.runs)))
        return dict(zip(self.runs, slots, strict=True))

    def having(self, **changes: object) -> str:
        """Return the address of the same comparison with something changed."""
        return replace(self, **changes).address  # type: ignore[arg-type]  # names are ours

    def of_only(self, run_ids: Collection[UUID]) -> CompareState:
        """Return the same without the other runs; each keeps its colour."""
        slot_of = self.slot_of
        kept = [run for run in self.runs if run in run_ids]
        slots = tuple(slot_of[run] for run in kept)
        return replace(
            self,
            runs=tuple(kept),
            slots=_unusual(slots),
            hidden=tuple(slot for slot in self.hidden if slot in slots),
            reference=_among(self.reference, kept),
            left=_among(self.left, kept),
            right=_among(self.right, kept),
        )

    def as_shared(self, tabs: Collection[str], *, with_values: bool) -> CompareState:
        """Return the state that visitors by share link may see: no other runs.

        Without permission for values, no division, order or axis uses any.
        """
        tab = self.tab if self.tab in tabs else CompareState().tab
        state = replace(self, tab=tab, among=False, query="")
        if with_values:
            return state
        defaults = CompareState()
        return replace(state, **{name: getattr(defaults, name) for name in OF_VALUES})

    def changed(self, button: str) -> str:
        """Return the address after a button of the list of runs, such as `hide.3`.

        `colour.3.5` gives the run of slot 3 the slot 5.
        """
        verb, _, rest = button.partition(".")
        number, _, value = rest.partition(".")
        slots = {str(slot): run_id for run_id, slot in self.slot_of.items()}
        if number not in slots:
            return self.address
        match verb:
            case "hide" | "show":
                return self.with_hidden(int(number), is_hidden=verb == "hide")
            case "colour" if to := _read_slots(value):
                return self.with_slot(slots[number], to[0])
            case "pin":
                return self.with_reference(slots[number])
            case "remove":
                return self.without(slots[number])
        return self.address

    def with_reference(self, run_id: UUID) -> str:
        """Set the reference run, and show it."""
        slot = self.slot_of[run_id]
        hidden = tuple(each for each in self.hidden if each != slot)
        return self.having(reference=run_id, hidden=hidden)

    def without(self, run_id: UUID) -> str:
        return self.of_only([run for run in self.runs if run != run_id]).address

    def along_with(self, *run_ids: UUID) -> str:
        """Add runs, each in the first color that is free."""
        slots = self.slot_of
        for run_id in run_ids:
            if run_id not in slots:
                slots[run_id] = min(set(range(len(slots) + 1)) - set(slots.values()))
        return self.having(runs=tuple(slots), slots=_unusual(tuple(slots.values())))

    def with_hidden(self, slot: int, *, is_hidden: bool) -> str:
        """Hide a run, or show it again."""
        others = {each for each in self.hidden if each != slot}
        return self.having(
            hidden=tuple(sorted(others | {slot} if is_hidden else others))
        )

    def with_slot(self, run_id: UUID, slot: int) -> str:
        """Give a run another color; whichever has it gets this run's."""
        slots = self.slot_of
        swapped = {slots[run_id]: slot, slot: slots[run_id]}
        return self.having(
            slots=_unusual(tuple(swapped.get(each, each) for each in slots.values())),
            hidden=tuple(sorted(swapped.get(each, each) for each in self.hidden)),
        )

    def _parameters(self) -> Iterator[tuple[str, str]]:
        defaults = CompareState()
        for name, value in (
            ("runs", ",".join(map(str, self.runs))),
            ("colours", ".".join(map(str, self.slots))),
            ("hidden", ".".join(map(str, self.hidden))),
            ("reference", str(self.reference or "")),
            ("tab", _unless(self.tab, defaults.tab)),
            ("axis", _unless(self.axis, defaults.axis)),
            ("over", self.over),
            ("smoothing", f"{self.smoothing:g}" if self.smoothing else ""),
            ("smoother", _unless(self.smoother, defaults.smoother)),
            ("log", "1" if self.log else ""),
            ("logx", "1" if self.logx else ""),
            ("clip", "1" if self.clip else ""),
            ("bare", "1" if self.bare else ""),
            ("low", "" if self.low is None else repr(self.low)),
            ("high", "" if self.high is None else repr(self.high)),
            ("together", self.together),
            ("dash", self.dash),
            ("chart", self.chart),
            ("rows", "all" if self.everything else ""),
            ("text", self.text),
            ("regex", "1" if self.regex else ""),
            ("at", self.step_text),
            ("left", str(self.left or "")),
            ("right", str(self.right or "")),
            ("view", _unless(self.view, defaults.view)),
            ("stage", self.stage),
            ("align", _unless(self.align, defaults.align)),
            ("group", self.group),
            *(("dimension", path) for path in self.dimensions),
            *(("brush", brush.text) for brush in self.brushes),
            ("colour", self.colour),
            ("x", self.x),
            ("y", self.y),
            ("size", self.size),
            ("log_x", "1" if self.log_x else ""),
            ("log_y", "1" if self.log_y else ""),
            ("among", "1" if self.among else ""),
            ("query", self.query),
            ("layout", self.layout),
        ):
            if value:
                yield name, value


def read_state(query: QueryDict) -> CompareState:
    """Parse an address; invalid parts get their default or are reported."""
    ids, unreadable = _read_ids(query.get("runs", ""))
    runs = tuple(ids[:RUNS_AT_MOST])
    slots = _read_slots(query.get("colours", ""))
    if not len(slots) == len(set(slots)) == len(runs):
        slots = ()
    known = set(slots or range(len(runs)))
    hidden = {slot for slot in _read_slots(query.get("hidden", "")) if slot in known}
    low, high = _read_zoom(query)
    texts = {name: query.get(name, "").strip()[:TEXT_LENGTH] for name in _TEXTS}
    read: dict[str, Any] = {
        **texts,
        **{name: query.get(name) == "1" for name in _TICKS},
        **{name: _choice(query, name) for name in _CHOICES},
        **{name: _among(as_id(query.get(name, "")), runs) for name in _OF_RUNS},
    }
    if texts["over"]:
        # A series implies its axis.
        read["axis"] = CompareState().axis
    return CompareState(
        runs=runs,
        slots=_unusual(slots),
        hidden=tuple(sorted(hidden)),
        smoothing=_read_smoothing(query.get("smoothing", "")),
        low=low,
        high=high,
        at=_read_step(query.get("at", "")),
        everything=query.get("rows") == "all",
        dimensions=_read_dimensions(query.getlist("dimension")),
        brushes=tuple(_read_brushes(query.getlist("brush"))),
        layout=_read_layout(query.get("layout", "")),
        unreadable=tuple(unreadable[:RUNS_AT_MOST]),
        left_out=max(0, len(ids) - RUNS_AT_MOST),
        **read,
    )


def read_ids(text: str) -> list[UUID]:
    """Return the ids of a comma-separated list, without invalid ones and duplicates."""
    return _read_ids(text)[0]


def as_id(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


def _read_ids(text: str) -> tuple[list[UUID], list[str]]:
    ids: list[UUID] = []
    unreadable: list[str] = []
    for part in filter(None, map(str.strip, text.split(","))):
        run_id = read_id(part)
        if run_id is None:
            unreadable.append(part[:SHOWN_OF_UNKNOWN])
        elif run_id not in ids:
            ids.append(run_id)
    return ids, unreadable


def _read_slots(text: str) -> tuple[int, ...]:
    allowed = {str(slot): slot for slot in range(RUNS_AT_MOST)}
    return tuple(allowed[part] for part in text.split(".") if part in allowed)


def _choice(query: QueryDict, name: str) -> str:
    value = query.get(name, "")
    default: str = getattr(CompareState(), name)
    return value if value in _CHOICES[name] else default


def _read_dimensions(paths: Iterable[str]) -> tuple[str, ...]:
    named = dict.fromkeys(path.strip()[:TEXT_LENGTH] for path in paths if path.strip())
    return tuple(named)[:DIMENSIONS_AT_MOST]


def _read_smoothing(text: str) -> float:
    try:
        weight = round(float(text), 2)
    except ValueError:
        return 0.0
    return weight if 0 <= weight <= MAX_SMOOTHING else 0.0


def _read_layout(text: str) -> str:
    try:
        read_arrangement(text)
    except InvalidInput:
        return ""
    return text


def _read_zoom(query: QueryDict) -> tuple[float | None, float | None]:
    try:
        low, high = float(query.get("low", "")), float(query.get("high", ""))
    except ValueError:
        return None, None
    if math.isfinite(low) and math.isfinite(high) and low < high:
        return low, high
    return None, None


def _read_step(text: str) -> float | None:
    try:
        step = float(text)
    except ValueError:
        return None
    return step if math.isfinite(step) else None


def _read_brushes(texts: Iterable[str]) -> Iterator[Brush]:
    for text in list(texts)[:DIMENSIONS_AT_MOST]:
        parts = text.split(":", _BRUSH_PARTS - 1)
        if len(parts) != _BRUSH_PARTS:
            continue
        try:
            low, high = float(parts[0]), float(parts[1])
        except ValueError:
            continue
        if math.isfinite(low) and math.isfinite(high) and low <= high:
            yield Brush(parts[2][:TEXT_LENGTH], low, high)


def _among(run_id: UUID | None, run_ids: Collection[UUID]) -> UUID | None:
    return run_id if run_id in run_ids else None


def _unusual(slots: tuple[int, ...]) -> tuple[int, ...]:
    return () if slots == tuple(range(len(slots))) else slots


def _unless(value: str, default: str) -> str:
    return "" if value == default else value
