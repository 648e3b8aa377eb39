"""A report's text as HTML, with a frame for each widget."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.template.loader import render_to_string
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from tracker.boards.board import MAX_WIDGETS
from tracker.errors import InvalidInput
from web.markdown import blocks_of, rendered
from web.pages.dashboards.widget_drawing import Audience, frame_of
from web.pages.reports.blocks import Block, key_of, read_block
from web.pages.reports.own_pictures import outside_of
from web.texts import gettext_lazy
from web.widgets import KINDS

ASK_WRITER = gettext_lazy("The report's author can see why.")


@dataclass
class _Drawing:
    """Draws the widgets of one text, and counts them."""

    audience: Audience
    edit_url: str = ""
    count: int = 0

    def __call__(self, text: str) -> str:
        self.count += 1
        context: dict[str, Any] = {"edit_url": self.edit_url, "key": key_of(text)}
        if self.count > MAX_WIDGETS:
            template = gettext("A report can have at most %(count)s widgets.")
            context["problem"] = template % {"count": MAX_WIDGETS}
            return render_to_string("reports/_widget.html", context)
        try:
            block = read_block(text, KINDS)
        except InvalidInput as error:
            # Errors quote the text, which may be a query.
            is_shared = self.audience.actor.grant is not None
            context["problem"] = ASK_WRITER if is_shared else str(error)
        else:
            context |= {
                "widget": block.widget,
                "frame": frame_of(block.widget, block.run_set, self.audience),
            }
        return render_to_string("reports/_widget.html", context)


def drawing_for(audience: Audience) -> Callable[[str], str]:
    """Return the drawing of each widget of a text, in order."""
    return _Drawing(audience)


def report_html(text: str, audience: Audience, *, edit_url: str = "") -> SafeString:
    """Return the HTML; with `edit_url`, widgets can be opened for a change."""
    outside = outside_of(audience.actor, partial(audience.picture, ""))
    return rendered(text, _Drawing(audience, edit_url), outside=outside)


def block_in(text: str, key: str) -> Block | None:
    """Return the widget of this key, if the text holds it and it can be read."""
    source = source_of(text, key)
    return None if source is None else read_block(source, KINDS)


def source_of(text: str, key: str) -> str | None:
    """Return the exact source of the block with this key."""
    return next((each for each in blocks_of(text) if key_of(each) == key), None)


def readable_blocks(text: str) -> list[Block]:
    """Return every widget of a text that can be read."""
    found = [_readable(each) for each in blocks_of(text)[:MAX_WIDGETS]]
    return [block for block in found if block is not None]


def _readable(text: str) -> Block | None:
    try:
        return read_block(text, KINDS)
    except InvalidInput:
        return None
