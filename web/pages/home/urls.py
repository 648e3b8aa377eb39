"""URLs of the pages about home, search and scripts of all pages."""

from __future__ import annotations

from django.urls import URLPattern, path

from web.pages.home import projects, search
from web.script_texts import Texts

urlpatterns: list[URLPattern] = [
    path("account/keys/first", projects.first_key, name="first-key"),
    path("", projects.projects_page, name="projects"),
    path("places.json", search.places, name="places"),
    path("texts/<str:language>/<str:version>.js", Texts.as_view(), name="texts"),
]
