"""Which parameters of the runs a metric depends on."""

from __future__ import annotations

from typing import Annotated

from django.utils.translation import gettext
from msgspec import Meta, Struct

from tracker.actor import Part
from tracker.disclosure import seen_by
from tracker.queries.compare.importance import read_importance
from tracker.queries.compare.values import dimensions_of
from web.pages.dashboards.widget_kind import WITHHELD, Body, Field, Kind, Scene
from web.texts import gettext_lazy


class Settings(Struct, frozen=True, forbid_unknown_fields=True):
    metric: Annotated[str, Meta(min_length=1, max_length=1_024)]


def body(scene: Scene, settings: Settings) -> Body:
    if not scene.actor.sees(Part.CONFIG):
        return Body(problem=WITHHELD)
    seen = seen_by(scene.actor)
    parameters = dimensions_of([run.id for run in scene.runs], seen).parameters
    found = read_importance(scene.runs, settings.metric, sorted(parameters), seen)
    context = {
        "importance": found,
        "importance_rows": [(row, "") for row in found.rows],
    }
    return Body("widgets/importance.html", context)


KIND = Kind(
    name="importance",
    label=gettext_lazy("Parameter importance"),
    icon="chart-bar",
    hint=gettext_lazy("Parameters that affect a metric"),
    settings=Settings,
    fields=(
        Field(
            "metric",
            gettext_lazy("Metric"),
            "path",
            hint=gettext_lazy(
                "For example val/accuracy, or min(val/loss) for the lowest value."
            ),
            is_required=True,
        ),
    ),
    body=body,
    title=lambda settings: (
        gettext("Importance for %(metric)s") % {"metric": settings.metric}
    ),
    paths=lambda settings: [settings.metric],
)
