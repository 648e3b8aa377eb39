"""Names of attributes, and their values for copying."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import template

from tracker.queries.run.attributes import Value, plain_value
from tracker.queries.run.namespaces import PROFILE
from web.figures import writers as words
from web.templatetags.format import UNKNOWN

register = template.Library()

# It stands in the page a second time.
LONGEST_COPIED = 2_000


@register.filter
def kind_words(kind: str) -> str:
    """Show a kind in words: float series."""
    return kind.replace("_", " ")


@register.filter
def is_profile(path: str) -> bool:
    """Return whether a path is that of a profile, which has a page."""
    return path.endswith(PROFILE)


@register.filter
def plain(value: Value | None) -> str:
    """Show a value with all of its digits."""
    return plain_value(value) or UNKNOWN


@register.filter
def copied(value: Value | None) -> str:
    """Show a value with all digits, as a literal for scripts; "" if it is long."""
    text = plain_value(value)
    return text if len(text) <= LONGEST_COPIED else ""


# Any: processes of a run, which templates hand through.
@register.filter
def writers_words(writers: Sequence[Any]) -> str:
    """Name the processes that logged to a series at the same time: ranks 0 and 1."""
    return words.writers_words([writer.rank for writer in writers])
