"""Addresses of the files of media."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django import template
from django.urls import reverse

from web.pages.run_files.media_items import ROUTES

register = template.Library()


# Any: a template's context.
@register.simple_tag(takes_context=True)
def medium_address(context: dict[str, Any], form: str, digest: str) -> str:
    """Return the address of a file: of the run, or of the widget on a shared board."""
    run, scene = context["run"], context.get("scene")
    if scene is not None and scene.is_shared and scene.medium_url is not None:
        return f"{scene.medium_url(run.id, form)}?{urlencode({'digest': digest})}"
    query = urlencode({"path": context["panel"].path, "digest": digest})
    return f"{reverse(ROUTES[form], args=[run.id])}?{query}"
