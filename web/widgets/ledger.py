"""The time breakdown of the runs."""

from __future__ import annotations

from django.utils.translation import gettext
from msgspec import Struct

from tracker.disclosure import seen_ledger
from tracker.queries.diagnoses.time_breakdowns import runs_ledger
from web.pages.dashboards.widget_kind import Body, Kind, Scene
from web.texts import gettext_lazy


class Settings(Struct, frozen=True, forbid_unknown_fields=True):
    """No settings except the runs."""


def body(scene: Scene, _settings: Settings) -> Body:
    known = runs_ledger(scene.project, [run.id for run in scene.runs])
    ledger = seen_ledger(scene.actor, known)
    if ledger is None:
        return Body(
            problem=gettext(
                "No time breakdown yet. The first appears within minutes of the start"
                " of a stage."
            )
        )
    context = {"ledger": ledger, "run_count": len(scene.runs)}
    return Body("widgets/ledger.html", context)


KIND = Kind(
    name="ledger",
    label=gettext_lazy("Time breakdown"),
    icon="hourglass",
    hint=gettext_lazy("GPU time of the runs by category"),
    settings=Settings,
    fields=(),
    body=body,
    width=4,
    height=4,
    title=lambda _: gettext("Time breakdown"),
)
