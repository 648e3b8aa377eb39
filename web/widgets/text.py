"""Text in Markdown."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from tracker.boards.board import TEXT_LENGTH
from web.markdown import rendered
from web.widget_kind import Body, Field, Kind, Scene


class Settings(Struct, frozen=True, forbid_unknown_fields=True):
    text: Annotated[str, Meta(max_length=TEXT_LENGTH)] = ""


def body(_scene: Scene, settings: Settings) -> Body:
    if not settings.text.strip():
        return Body(problem="There is no text yet.")
    return Body("widgets/text.html", {"html": rendered(settings.text)}, is_live=False)


KIND = Kind(
    name="text",
    label="Text",
    icon="file",
    hint="Notes, headings and links, in Markdown",
    settings=Settings,
    fields=(
        Field(
            "text",
            "Text",
            "text",
            hint="Markdown: # heading, **bold**, - list, [link](https://…), tables.",
        ),
    ),
    body=body,
    width=4,
    height=3,
    has_runs=False,
    is_for_reports=False,
)
