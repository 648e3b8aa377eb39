"""Parts of a page that ask for themselves again."""

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
    """Have an element replace itself by what is at an address, again and again.

    `every` so many seconds while something may change `soon`; every minute where it
    `seldom` does; never where nothing can. "" is the page's address as it is by then.
    """
    seconds = seconds_between(every, soon=soon, seldom=seldom)
    if not seconds:
        return ""
    return format_html(
        ' hx-get="{}" hx-trigger="every {}s" hx-swap="outerMorph"',
        address,
        seconds,
    )
