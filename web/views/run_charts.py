"""A run's charts: one of each series, in sections by namespace."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode
from uuid import UUID

import orjson
from django.http import HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_POST, require_safe

from tracker.access import may_own, readable_run
from tracker.actions.chart_arrangements import keep_arrangement
from tracker.queries.attributes import series_count, series_paths
from tracker.queries.chart_arrangements import arrangement_of
from tracker.queries.histograms import histogram_paths
from tracker.queries.run import is_live, silent_for
from web.chart_arrangement import (
    SIZES,
    Arrangement,
    Key,
    arranged,
    chart_key,
    read_arrangement,
)
from web.chart_sections import chart_sections, epoch_path
from web.numbers import whole_number
from web.path_search import Found, find_paths
from web.polling import poll_answer
from web.session import PageRequest, signed_in
from web.texts import gettext_lazy
from web.views.chart_options import ChartOptions, read_options
from web.views.run_frame import run_frame

# More than a page can hold; the search finds the others.
MOST_CHARTS = 1_000
AXES = (
    ("step", gettext_lazy("Step")),
    ("time", gettext_lazy("Time")),
    ("relative", gettext_lazy("Relative")),
)
PINNED, JOINED = "pinned", "joined"
# Sections of so few charts stand beside each other.
SMALL = 2
# What a usual window shows at once, and all their lines; of a long address less.
FIRST_CHARTS, FIRST_LINES, FIRST_LETTERS = 12, 60, 6_000


@dataclass(frozen=True, slots=True)
class Card:
    """A chart as the page has it before it is drawn."""

    key: str
    paths: Key
    is_map: bool
    columns: int = 0  # 0: as all others
    height: int = 0
    is_log: bool = False
    # The search did not find it; who types on may want it.
    is_hidden: bool = False

    @property
    def title(self) -> str:
        return ", ".join(self.paths)

    @property
    def query(self) -> str:
        return urlencode({"path": self.paths}, doseq=True)

    @property
    def batch_query(self) -> str:
        """What asks for this chart, together with others."""
        return self.query + ("&own=log" if self.is_log else "")


@dataclass(frozen=True, slots=True)
class CardSection:
    """Charts below one heading; those of people's own choice come first."""

    name: str
    title: str
    cards: list[Card]
    is_open: bool = True
    is_chosen: bool = False

    @property
    def shown_count(self) -> int:
        return sum(not card.is_hidden for card in self.cards)

    @property
    def is_small(self) -> bool:
        return self.shown_count <= SMALL and not self.is_chosen


@require_safe
@signed_in
def charts(request: PageRequest, run_id: UUID) -> HttpResponse:
    run = readable_run(request.actor, run_id)
    histograms = histogram_paths(run)
    if request.htmx:
        return _news(request, run, series_count(run) + len(histograms))

    paths = sorted([*series_paths(run), *histograms])
    search, is_regex = _asked(request)
    found = find_paths(paths, search, is_regex=is_regex)
    arrangement = _arrangement(request, run.project)
    # Of more than a page can hold, it holds those that match.
    shown = paths if len(paths) <= MOST_CHARTS else found.paths[:MOST_CHARTS]
    frame = run_frame(request, run, "charts")
    options = read_options(request.GET)
    sections = _sections(
        shown, histograms, arrangement, found.paths if search else None
    )
    context = {
        **frame,
        "sections": sections,
        "first_figures": _first_figures(run.id, options, first_cards(sections)),
        "hidden": max(0, len(found.paths) - MOST_CHARTS),
        "count": len(paths),
        "matching": len(found.paths),
        "search": search,
        "is_regex": is_regex,
        "mistake": found.mistake,
        "options": options,
        "axes": AXES,
        "epoch": epoch_path(paths),
        "sizes": SIZES,
        "arrangement": arrangement,
        "arrangement_json": orjson.dumps(arrangement.body).decode(),
        "is_silent": silent_for(run) is not None,
        "may_own": may_own(request.actor, run.project),
    }
    return render(request, "run/charts.html", context)


@require_safe
@signed_in
def search_charts(request: PageRequest, run_id: UUID) -> HttpResponse:
    """Answer which of the page's charts match, and how many there are in all."""
    run = readable_run(request.actor, run_id)
    text, is_regex = _asked(request)
    paths = sorted([*series_paths(run), *histogram_paths(run)])
    found: Found = find_paths(paths, text, is_regex=is_regex)
    answer = {
        "paths": found.paths[:MOST_CHARTS],
        "count": len(found.paths),
        "mistake": found.mistake,
    }
    return HttpResponse(orjson.dumps(answer), content_type="application/json")


@require_POST
@signed_in
def arrange_charts(request: PageRequest, run_id: UUID) -> HttpResponse:
    """Keep how this person wants the charts of this project's runs."""
    run = readable_run(request.actor, run_id)
    arrangement = read_arrangement(request.POST.get("layout", ""))
    keep_arrangement(run.project, request.actor, arrangement.body)
    return HttpResponse(status=204)


# Any: a row of the projects table, which pages do not import.
def _arrangement(request: PageRequest, project: Any) -> Arrangement:
    """Read the address; what it does not say is as this person left it."""
    if layout := request.GET.get("layout"):
        return read_arrangement(layout)
    try:
        return arranged(arrangement_of(project, request.actor))
    except (ValueError, TypeError):
        # An earlier version wrote it otherwise; nobody is locked out for that.
        return Arrangement()


def _sections(
    paths: Sequence[str],
    histograms: Iterable[str],
    arrangement: Arrangement,
    matching: Sequence[str] | None,
) -> list[CardSection]:
    maps, known = frozenset(histograms), frozenset(paths)
    found = known if matching is None else frozenset(matching)

    def card(key: Key) -> Card:
        columns, height = arrangement.sizes.get(key, (0, 0))
        is_map = len(key) == 1 and key[0] in maps
        is_log, is_hidden = key in arrangement.log, found.isdisjoint(key)
        return Card(chart_key(key), key, is_map, columns, height, is_log, is_hidden)

    def chosen(keys: Iterable[Key]) -> list[Card]:
        return [card(key) for key in keys if not known.isdisjoint(key)]

    pinned = frozenset(arrangement.pinned)
    joined = [key for key in arrangement.joined if key not in pinned]
    first = [
        CardSection(
            PINNED, gettext("Pinned"), chosen(arrangement.pinned), is_chosen=True
        ),
        CardSection(JOINED, gettext("Joined"), chosen(joined), is_chosen=True),
    ]
    return first + [
        CardSection(
            section.namespace,
            section.namespace,
            [card((path,)) for path in section.paths if (path,) not in pinned],
            section.is_open,
        )
        for section in chart_sections(
            paths,
            opens_all=matching is not None,
            folded=arrangement.folded,
            unfolded=arrangement.unfolded,
        )
    ]


def first_cards(sections: Iterable[CardSection]) -> list[Card]:
    """Return the charts that stand at the top of the page, and can come together."""
    found: list[Card] = []
    lines = letters = 0
    for section in sections:
        for card in section.cards if section.is_open else ():
            if card.is_hidden or card.is_map:
                continue
            lines += len(card.paths)
            letters += len(quote(card.batch_query))
            is_full = len(found) >= FIRST_CHARTS or lines > FIRST_LINES
            if is_full or letters > FIRST_LETTERS:
                return found
            found.append(card)
    return found


def _first_figures(run_id: UUID, options: ChartOptions, cards: Sequence[Card]) -> str:
    """Return where the first figures are; a browser asks before its scripts are there."""
    if not cards:
        return ""
    address = reverse("run-charts-figures", args=[run_id])
    charts = urlencode({"chart": [card.batch_query for card in cards]}, doseq=True)
    return f"{address}?{'&'.join(filter(None, [options.query, charts]))}"


def _asked(request: PageRequest) -> tuple[str, bool]:
    return request.GET.get("search", ""), request.GET.get("regex") == "1"


# Any: a row of the runs table, which pages do not import.
def _news(request: PageRequest, run: Any, count: int) -> HttpResponse:
    """Tell a live page how many series began, and whether anything still arrives."""
    known = request.GET.get("known", "")
    new = count - whole_number(known, "known") if known else 0
    context = {
        "run": run,
        "new": new,
        "is_live": is_live(run),
        "is_silent": silent_for(run) is not None,
        "address": reverse("run-charts", args=[run.id]),
    }
    text = render_to_string("run/charts_news.html", context, request)
    return poll_answer(request, text)
