"""A ladder widget: the speedup of each step, and the time breakdown of steps."""

from __future__ import annotations

from typing import Annotated, Any, Literal
from uuid import UUID

from django.utils.translation import gettext
from msgspec import Meta, Struct

from tracker.disclosure import seen_ladder
from tracker.queries.ladders.ladders import LadderView, ladder_of_project, read_ladder
from web.figures.ladder import step_time_figure
from web.pages.charts.chart_options import ChartOptions
from web.pages.dashboards.widget_kind import Body, Field, FigureView, Kind, Scene
from web.pages.ladders.bars import bars_of, legend_of, unit_of
from web.pages.ladders.step_cards import cards_of
from web.pages.ladders.summary import summary_of
from web.texts import gettext_lazy

GONE = gettext_lazy("This ladder was deleted. Select another one or remove the widget.")


class Settings(Struct, frozen=True, forbid_unknown_fields=True):
    # The id of a ladder.
    ladder: Annotated[str, Meta(min_length=1, max_length=36)]
    per: Literal["example", "step"] = "example"


def body(scene: Scene, settings: Settings) -> Body:
    found, view = _read(scene, settings)
    if view is None:
        return Body(problem=GONE)
    if not view.rungs:
        if scene.is_shared:
            return Body(problem=gettext("This ladder has no runs to show."))
        said = gettext(
            "This ladder has no runs to show. They are in the trash or deleted."
        )
        return Body(problem=said)
    context = {
        "ladder": view,
        "ladder_id": found.id,
        "summary": summary_of(view),
        "legend": legend_of(view),
        "cards": cards_of(view),
    }
    return Body("widgets/ladder.html", context, is_live=view.may_go_on)


def figure(scene: Scene, settings: Settings, _view: ChartOptions) -> FigureView:
    _, ladder = _read(scene, settings)
    if ladder is None:
        return FigureView(step_time_figure([], unit="step"), is_live=False)
    unit = unit_of(ladder, settings.per)
    drawn = step_time_figure(bars_of(ladder, unit), unit=unit)
    return FigureView(drawn, is_live=ladder.may_go_on)


def _read(scene: Scene, settings: Settings) -> tuple[Any, LadderView | None]:
    try:
        ladder_id = UUID(settings.ladder)
    except ValueError:
        return None, None
    found = ladder_of_project(scene.project.id, ladder_id)
    if found is None:
        return None, None
    return found, seen_ladder(scene.actor, read_ladder(found, only=scene.only))


KIND = Kind(
    name="ladder",
    label=gettext_lazy("Ladder"),
    icon="layers",
    hint=gettext_lazy("Speedup of each step of a ladder"),
    settings=Settings,
    fields=(
        Field("ladder", gettext_lazy("Ladder"), "ladder", is_required=True),
        Field(
            "per",
            gettext_lazy("Bars"),
            "choice",
            options=(
                ("example", gettext_lazy("Per example")),
                ("step", gettext_lazy("Per step")),
            ),
        ),
    ),
    body=body,
    figure=figure,
    width=8,
    height=5,
    has_runs=False,
    title=lambda _: gettext("Ladder"),
)
