"""Texts that the runs logged at one step, with a slider."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from web.pages.dashboards.step_cells import step_body
from web.pages.dashboards.widget_kind import Field, Kind
from web.texts import gettext_lazy


class Settings(Struct, frozen=True, forbid_unknown_fields=True):
    path: Annotated[str, Meta(min_length=1, max_length=1_024)]


KIND = Kind(
    name="logged-text",
    label=gettext_lazy("Logged text"),
    icon="file-text",
    hint=gettext_lazy("Logged text at a selected step"),
    settings=Settings,
    fields=(
        Field(
            "path",
            gettext_lazy("Path"),
            "path",
            hint=gettext_lazy("For example samples/text"),
            is_required=True,
            of_kind="text_series",
        ),
    ),
    body=lambda scene, settings: step_body(scene, settings.path),
    title=lambda settings: settings.path,
    paths=lambda settings: [settings.path],
)
