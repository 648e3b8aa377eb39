"""The profile of a run: the lines that take the time, and a flame graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.http import HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from tracker.access.runs import readable_run
from tracker.diagnosis.analysis.code_lines import LineTime, line_times, time_by_kind
from tracker.diagnosis.analysis.code_profile import START, STEPS, CallTree
from tracker.queries.run.code_profile import (
    ProfilePlace,
    ScriptText,
    read_profile,
    script_text,
)
from tracker.queries.run.run import RunOverview
from web.pages.charts.figures import chosen_stages
from web.pages.run.frame import run_frame, tab_answer
from web.pages.run.stage_sections import TRAINING
from web.pages.run_profile.flame_graph import flame_frames
from web.pages.run_profile.headline import ENOUGH_SAMPLES, headline_of
from web.session import PageRequest, signed_in
from web.texts import gettext_lazy

PERIODS = {
    STEPS: gettext_lazy("Training"),
    START: gettext_lazy("Before the second step"),
}
MAX_LINES = 15
LONGEST_LINE = 160


@dataclass(frozen=True, slots=True)
class LineRow:
    """A line with its text; "" if it was not captured."""

    time: LineTime
    text: str


@require_safe
@signed_in
def profile(request: PageRequest, run_id: UUID) -> HttpResponse:
    run = readable_run(request.actor, run_id)
    return tab_answer(request, run, "profile", lambda: _context(request, run))


# Any: a row of the runs table, which pages do not import, and a template's context.
def _context(request: PageRequest, run: Any) -> dict[str, Any]:
    frame = run_frame(request, run, "profile")
    places: Sequence[ProfilePlace] = frame["profile_places"]
    place = _chosen_place(frame["overview"], places, request)
    trees = read_profile(run, place) if place else {}
    period = _chosen_period(trees, request.GET.get("period", ""))
    context = {
        **frame,
        "stages": _stages(frame["overview"], places),
        "ranks": [each.rank for each in places if place and each.stage == place.stage],
        "place": place,
        "periods": [(name, PERIODS[name]) for name in PERIODS if name in trees],
        "period": period,
    }
    if place is None or not period:
        return context
    tree = trees[period]
    times = line_times(tree)
    shown = times if "all" in request.GET else times[:MAX_LINES]
    return {
        **context,
        "tree": tree,
        "is_rough": tree.samples < ENOUGH_SAMPLES,
        "headline": headline_of(times),
        # Without a second step, the period is the whole time.
        "headline_about": period if len(trees) > 1 or period == STEPS else "",
        "lines": _rows(shown, script_text(run, place.stage)),
        "hidden_lines": len(times) - len(shown),
        "all_lines": _address(run, request, all="1") + "#lines",
        "kinds": time_by_kind(tree),
        "frames": flame_frames(tree),
        "flame_query": _address(run, request).partition("?")[2],
        "find": request.GET.get("find", ""),
        "zoomed": request.GET.get("frame", ""),
    }


def _chosen_place(
    overview: RunOverview, places: Sequence[ProfilePlace], request: PageRequest
) -> ProfilePlace | None:
    """Return the profile of the chosen stage and rank, or of the main stage."""
    stage = request.GET.get("stage", "")
    chosen_stages(overview, stage)
    stage = stage or _main_stage(overview, places)
    found = [place for place in places if place.stage == stage]
    of_rank = [p for p in found if str(p.rank) == request.GET.get("rank", "")]
    return next(iter(of_rank or found), None)


def _stages(overview: RunOverview, places: Sequence[ProfilePlace]) -> list[str]:
    """Return the stages that have a profile, in the order of their start."""
    found = {place.stage for place in places}
    started = [row.name for row in overview.stages if row.name in found]
    return [*started, *sorted(found.difference(started))]


def _main_stage(overview: RunOverview, places: Sequence[ProfilePlace]) -> str:
    """Return the training, or otherwise the longest stage that has a profile."""
    seconds = {row.name: row.duration or 0.0 for row in overview.stages}
    stages = {place.stage for place in places}
    if TRAINING in stages:
        return TRAINING
    return max(sorted(stages), key=lambda name: seconds.get(name, 0.0), default="")


def _chosen_period(trees: Mapping[str, CallTree], name: str) -> str:
    """Return a period that has samples; "" without any."""
    return (
        name if name in trees else next((each for each in PERIODS if each in trees), "")
    )


def _rows(times: Sequence[LineTime], script: ScriptText) -> list[LineRow]:
    rows = []
    for time in times:
        text = script.line(time.file, time.line)
        if len(text) > LONGEST_LINE:
            text = f"{text[:LONGEST_LINE]}…"
        rows.append(LineRow(time, text))
    return rows


# Any: as above.
def _address(run: Any, request: PageRequest, **changes: str) -> str:
    """Return the address of this page with some parameters changed."""
    kept = {
        name: request.GET[name]
        for name in ("stage", "rank", "period")
        if name in request.GET
    }
    return f"{reverse('run-profile', args=[run.id])}?{urlencode({**kept, **changes})}"
