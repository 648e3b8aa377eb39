"""Text in Markdown."""

from __future__ import annotations

from typing import Annotated

from django.utils.translation import gettext
from msgspec import Meta, Struct

from tracker.boards.board import TEXT_LENGTH
from web.markdown import rendered
from web.pages.dashboards.widget_kind import Body, Field, Kind, Scene
from web.pages.reports.own_pictures import outside_of
from web.texts import gettext_lazy


class Settings(Struct, frozen=True, forbid_unknown_fields=True):
    text: Annotated[str, Meta(max_length=TEXT_LENGTH)] = ""


def body(scene: Scene, settings: Settings) -> Body:
    if not settings.text.strip():
        return Body(problem=gettext("No text yet."))
    outside = outside_of(scene.actor, scene.picture_url)
    html = rendered(settings.text, outside=outside)
    return Body("widgets/text.html", {"html": html}, is_live=False)


KIND = Kind(
    name="text",
    label=gettext_lazy("Text"),
    icon="file",
    hint=gettext_lazy("Notes, headings and links, in Markdown"),
    settings=Settings,
    fields=(
        Field(
            "text",
            gettext_lazy("Text"),
            "text",
            hint=gettext_lazy(
                "Markdown: # heading, **bold**, - list, [link](https://…), tables."
            ),
        ),
    ),
    body=body,
    width=4,
    height=3,
    has_runs=False,
    is_for_reports=False,
)
