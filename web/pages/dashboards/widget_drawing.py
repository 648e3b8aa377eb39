"""Renders widgets: the frame with the page, the content once it is visible."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils.translation import gettext, ngettext

from tracker.access.objects import frozen_for
from tracker.access.projects import projects_in_reach
from tracker.actor import Actor
from tracker.boards.board import RunSet, Widget, checked
from tracker.errors import InvalidInput, NotFound
from tracker.queries.runs.run_sets import ShownRuns, runs_in
from tracker.queries.series.versions import version_of, version_of_summaries
from tracker.server.etags import fresh_answer
from web.pages.charts.chart_options import ChartOptions, read_number
from web.pages.charts.figures import drawn_by, figure_response, sent_figure
from web.pages.dashboards.widget_kind import Body, Kind, Scene, settings_of
from web.pages.reports.blocks import key_of
from web.polling import poll_answer, poll_unless
from web.texts import gettext_lazy
from web.widgets import KINDS

# Refresh interval of content that is not in the version, such as tags, time breakdowns
# and durations: with live runs, and without.
LIVE_LOOK_SECONDS, LOOK_SECONDS = 60, 300
BODY, FIGURE = "body", "figure"
UNKNOWN_KIND = gettext_lazy(
    "This version of Seamark does not support this widget type."
)
VIEW_IS_GONE = gettext_lazy(
    "The view that selects these runs was deleted or is no longer shared. Select"
    " another view or use a query."
)
Address = Callable[[str, str], str]


@dataclass(frozen=True, slots=True)
class Audience:
    """The reader, and the addresses of parts.

    `address` returns the address of a widget's part, from its id and BODY or FIGURE;
    `picture` that of a picture in a text, from the widget's id and the picture's key.
    """

    actor: Actor
    project: Any  # a row of the projects table, which pages do not import
    address: Address
    picture: Address
    # On boards, the address of a file of a run in a widget, in a form of
    # `media_items.ROUTES`; visitors by share link cannot open the run's pages.
    medium: Callable[[str, UUID, str], str] | None = None
    # The color of each run, if colors belong to runs.
    slots: Mapping[UUID, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FrameView:
    """A widget whose content is not loaded yet."""

    widget: Widget
    label: str
    icon: str
    title: str
    body_url: str
    drawing: str


def frame_of(widget: Widget, run_set: RunSet, audience: Audience) -> FrameView:
    kind = KINDS.get(widget.kind)
    return FrameView(
        widget,
        kind.label if kind else widget.kind,
        kind.icon if kind else "circle-help",
        widget.title or (_usual_title(kind, widget, run_set, audience) if kind else ""),
        audience.address(widget.id, BODY),
        drawing_of(widget, run_set),
    )


def _usual_title(
    kind: Kind, widget: Widget, run_set: RunSet, audience: Audience
) -> str:
    """Return the default title, or the kind's label if the title names hidden paths."""
    try:
        settings = _settings(kind, widget)
    except InvalidInput:
        return kind.label
    paths = kind.paths(settings)
    if audience.actor.grant is not None and paths:
        scene = scene_of(widget, run_set, audience)
        if scene.values(scene.runs, paths).withheld:
            return kind.label
    return kind.title(settings)


def drawing_of(widget: Widget, run_set: RunSet) -> str:
    """Return a cache key of the content, without the widget's position."""
    return key_of(repr((widget.kind, widget.settings, run_set)))


def body_response(
    request: HttpRequest, widget: Widget, run_set: RunSet, audience: Audience
) -> HttpResponse:
    """Send the content of a widget; it polls if its runs may change."""
    at = read_number(request.GET, "at")
    scene = replace(scene_of(widget, run_set, audience), at=at)
    drawing = drawing_of(widget, run_set)
    kind = KINDS.get(widget.kind)
    if kind is None or not kind.has_runs:
        return poll_answer(request, _drawn(request, scene, drawing))
    version = _version(request, scene)
    return poll_unless(request, version, lambda: _drawn(request, scene, drawing))


def _version(request: HttpRequest, scene: Scene) -> tuple[object, ...]:
    """Return a version that changes with the widget's content, cheaply."""
    shown = scene.shown
    seconds = LIVE_LOOK_SECONDS if shown.is_live else LOOK_SECONDS
    return (
        version_of_summaries(scene.runs, request.get_full_path(), drawn_by()),
        (scene.widget, scene.run_set, sorted(scene.names.values())),
        replace(shown, runs=()),
        int(time.time() // seconds),
    )


def _drawn(request: HttpRequest, scene: Scene, drawing: str) -> str:
    widget, body = scene.widget, _body(scene)
    is_live = scene.shown.is_live if body.is_live is None else body.is_live
    notes = [*_run_notes(scene), *body.notes]
    context = {
        "scene": scene,
        "widget": widget,
        "body": body,
        "notes": notes,
        "is_live": is_live,
        "may_be_joined": body.is_live is None and scene.shown.may_be_joined,
        "drawing": drawing,
        **body.context,
    }
    return render_to_string("widgets/body.html", context, request)


def figure_answer(
    request: HttpRequest, widget: Widget, run_set: RunSet, audience: Audience
) -> HttpResponse:
    """Send the figure of a widget, or the parts that the browser lacks."""
    kind = KINDS.get(widget.kind)
    if kind is None or kind.figure is None:
        raise NotFound("figure")
    draw_figure, settings = kind.figure, _settings(kind, widget)
    view = ChartOptions(
        low=read_number(request.GET, "low"), high=read_number(request.GET, "high")
    )
    scene = scene_of(widget, run_set, audience)
    if not kind.has_runs:
        found = draw_figure(scene, settings, view)
        return figure_response(request, found.figure, is_live=found.is_live)

    parameters = sorted(item for item in request.GET.lists() if item[0] != "since")
    names = list(scene.names.values())
    version = version_of(
        scene.runs,
        drawn_by(),
        request.path,
        parameters,
        names,
        scene.shown.is_live,
        widget,
    )

    def draw() -> HttpResponse:
        found = draw_figure(scene, settings, view)
        return sent_figure(request, found.figure, is_live=found.is_live)

    return fresh_answer(request, version, draw)


def scene_of(widget: Widget, run_set: RunSet, audience: Audience) -> Scene:
    kind = KINDS.get(widget.kind)
    has_runs = kind is not None and kind.has_runs
    frozen = frozen_for(audience.actor)
    reach = projects_in_reach(audience.actor, audience.project)
    if frozen is not None:
        run_set = frozen.run_set(widget.id)
    return Scene(
        project=audience.project,
        widget=widget,
        run_set=run_set,
        shown=runs_in(audience.project, run_set, reach) if has_runs else ShownRuns(()),
        body_url=audience.address(widget.id, BODY),
        figure_url=audience.address(widget.id, FIGURE),
        picture_url=partial(audience.picture, widget.id),
        medium_url=audience.medium and partial(audience.medium, widget.id),
        actor=audience.actor,
        slots=audience.slots,
        reach=reach,
        only=None if frozen is None else frozenset(run_set.runs or ()),
    )


def _body(scene: Scene) -> Body:
    kind = KINDS.get(scene.widget.kind)
    if kind is None:
        return Body(problem=UNKNOWN_KIND)
    if problem := _why_not_found(scene):
        return Body(problem=problem)
    try:
        settings = _settings(kind, scene.widget)
    except InvalidInput as error:
        why = {"why": str(error)}
        return Body(problem=gettext("Invalid widget settings: %(why)s") % why)
    if kind.has_runs and not scene.runs:
        return Body(problem=_why_no_runs(scene))
    return kind.body(scene, settings)


def _why_not_found(scene: Scene) -> str:
    shown = scene.shown
    if not (shown.problem or shown.is_view_gone):
        return ""
    if scene.is_shared:
        return gettext("Runs could not be loaded")
    if shown.is_view_gone:
        return str(VIEW_IS_GONE)
    return gettext("Runs could not be loaded: %(why)s") % {"why": shown.problem}


def _settings(kind: Kind, widget: Widget) -> Any:
    return checked(settings_of(kind, dict(widget.settings)), kind.settings)


def _why_no_runs(scene: Scene) -> str:
    if scene.is_shared:
        return gettext("No runs to show.")
    if scene.run_set.runs is not None:
        return gettext(
            "The selected runs are in the trash or deleted, or you cannot access them."
        )
    if scene.shown.gone:
        return _projects_gone(scene.shown.gone)
    if scene.shown.view:
        view = {"view": scene.shown.view}
        return gettext("No runs match the view “%(view)s”.") % view
    if scene.run_set.query:
        query = {"query": scene.run_set.query}
        return gettext("No runs match %(query)s") % query
    return gettext("This project has no runs yet.")


def _run_notes(scene: Scene) -> list[str]:
    shown = scene.shown
    if not scene.runs or scene.is_shared:
        return []
    notes = [_projects_gone(shown.gone)] if shown.gone else []
    if shown.missing_count:
        template = ngettext(
            "%(count)s run is in the trash or deleted, or you cannot access it.",
            "%(count)s runs are in the trash or deleted, or you cannot access them.",
            shown.missing_count,
        )
        notes.append(template % {"count": shown.missing_count})
    return notes


def _projects_gone(slugs: Sequence[str]) -> str:
    template = ngettext(
        "The project “%(names)s” does not exist in this workspace, or you cannot access it.",
        "The projects “%(names)s” do not exist in this workspace, or you cannot access them.",
        len(slugs),
    )
    return template % {"names": "”, “".join(slugs)}
