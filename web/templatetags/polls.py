"""Parts of a page that refresh themselves."""

from __future__ import annotations

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from web.polling import seconds_between

register = template.Library()


@register.simple_tag
def asks_again(
    address: str, every: int, *, soon: bool = True, seldom: bool = False
) -> SafeString | str:
    """Refresh an element from an address periodically.

    The interval is `every` seconds while content may change `soon`, a minute while it
    `seldom` changes, otherwise never. "" is the current address of the page.
    """
    seconds = seconds_between(every, soon=soon, seldom=seldom)
    if not seconds:
        return ""
    return format_html(
        ' hx-get="{}" hx-trigger="every {}s" hx-swap="outerMorph"',
        address,
        seconds,
    )
