"""URLs of the pages about ladders."""

from __future__ import annotations

from django.urls import URLPattern, path

from web.pages.ladders import ladders

urlpatterns: list[URLPattern] = [
    path("w/<slug:workspace>/<slug:project>/ladders/", ladders.ladders, name="ladders"),
    path("ladders/<uuid:ladder_id>/", ladders.ladder, name="ladder"),
    path(
        "ladders/<uuid:ladder_id>/figure", ladders.ladder_figure, name="ladder-figure"
    ),
    path("ladders/<uuid:ladder_id>/report", ladders.report, name="ladder-report"),
    path(
        "ladders/<uuid:ladder_id>/notes/<uuid:run_id>",
        ladders.note,
        name="ladder-note",
    ),
    path("ladders/<uuid:ladder_id>/edit", ladders.edit, name="ladder-edit"),
    path("ladders/<uuid:ladder_id>/delete", ladders.delete, name="ladder-delete"),
]
