"""Where the GPU time of the runs went."""

from __future__ import annotations

from django.utils.translation import gettext
from msgspec import Struct

from tracker.disclosure import seen_ledger
from tracker.queries.ledgers import runs_ledger
from web.texts import gettext_lazy
from web.widget_kind import Body, Kind, Scene


class Settings(Struct, frozen=True, forbid_unknown_fields=True):
    """There is nothing to choose but the runs."""


def body(scene: Scene, _settings: Settings) -> Body:
    known = runs_ledger(scene.project, [run.id for run in scene.runs])
    ledger = seen_ledger(scene.actor, known)
    if ledger is None:
        return Body(
            problem=gettext(
                "Nothing is known yet of where the time of these runs went. It is"
                " added up once a stage was diagnosed, within minutes of its beginning."
            )
        )
    context = {"ledger": ledger, "run_count": len(scene.runs)}
    return Body("widgets/ledger.html", context)


KIND = Kind(
    name="ledger",
    label=gettext_lazy("Where time went"),
    icon="hourglass",
    hint=gettext_lazy("GPU time of the runs, by what it was used for"),
    settings=Settings,
    fields=(),
    body=body,
    width=4,
    height=4,
    title=lambda _: gettext("Where the time went"),
)
