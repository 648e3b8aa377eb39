"""URLs of the documentation."""

from __future__ import annotations

from django.urls import URLPattern, path

from web.pages.help import pages

urlpatterns: list[URLPattern] = [
    path("help/", pages.help_page, name="help"),
    path("help/<path:page>", pages.help_page, name="help-page"),
]
