"""Draws a symbol of the icon sprite: {% icon "search" %}."""

from __future__ import annotations

from django import template
from django.templatetags.static import static
from django.utils.html import format_html
from django.utils.safestring import SafeString

register = template.Library()


@register.simple_tag
def icon(name: str, extra_class: str = "") -> SafeString:
    """Return the icon, hidden from screen readers because it is next to its label."""
    return format_html(
        '<svg class="icon {}" aria-hidden="true"><use href="{}#{}"></use></svg>',
        extra_class,
        static("web/icons.svg"),
        name,
    )
