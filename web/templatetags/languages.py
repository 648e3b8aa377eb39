"""The language attributes of a page."""

from __future__ import annotations

from django import template
from django.utils import translation
from django.utils.html import format_html
from django.utils.safestring import SafeString

from web.languages import script_address

register = template.Library()


@register.simple_tag
def spoken_language() -> SafeString:
    """Return the attributes of a page that name its language and where its lines begin."""
    direction = "rtl" if translation.get_language_bidi() else "ltr"
    return format_html('lang="{}" dir="{}"', translation.get_language(), direction)


@register.simple_tag
def texts_of_scripts() -> SafeString | str:
    """Return the element that loads the texts of scripts, if they are not their own."""
    address = script_address()
    return format_html('<script src="{}"></script>', address) if address else ""
