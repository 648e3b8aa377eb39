"""Renders comments, which are Markdown."""

from __future__ import annotations

from django import template
from django.utils.safestring import SafeString

from web.markdown import rendered_remark

register = template.Library()


@register.filter
def remark(text: str) -> SafeString:
    return rendered_remark(text)
