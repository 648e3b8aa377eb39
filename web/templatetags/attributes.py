"""How attributes are called, and what is copied of them."""

from __future__ import annotations

from django import template

from tracker.queries.attributes import Value, plain_value
from web.templatetags.format import UNKNOWN

register = template.Library()

# It stands in the page a second time.
LONGEST_COPIED = 2_000


@register.filter
def kind_words(kind: str) -> str:
    """Show a kind in words: float series."""
    return kind.replace("_", " ")


@register.filter
def plain(value: Value | None) -> str:
    """Show a value with all of its digits."""
    return plain_value(value) or UNKNOWN


@register.filter
def copied(value: Value | None) -> str:
    """Show a value with all of its digits, as scripts write it; "" of what is long."""
    text = plain_value(value)
    return text if len(text) <= LONGEST_COPIED else ""
