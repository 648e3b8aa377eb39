"""URLs of the pages about runs."""

from __future__ import annotations

from django.urls import URLPattern, path

from web.pages.runs import (
    bulk_changes,
    charts,
    csv_export,
    moves,
    names,
    runs,
    saved_views,
)

urlpatterns: list[URLPattern] = [
    path("runs/<uuid:run_id>/move", moves.move, name="run-move"),
    path(
        "w/<slug:workspace>/<slug:project>/runs/move",
        moves.move_many,
        name="runs-move",
    ),
    path("w/<slug:workspace>/<slug:project>/", runs.runs, name="runs"),
    path(
        "w/<slug:workspace>/<slug:project>/runs.json", runs.runs_json, name="runs-page"
    ),
    path(
        "w/<slug:workspace>/<slug:project>/run-names",
        names.run_names,
        name="run-names",
    ),
    path(
        "w/<slug:workspace>/<slug:project>/groups.json",
        runs.groups_json,
        name="runs-groups",
    ),
    path(
        "w/<slug:workspace>/<slug:project>/columns.json",
        runs.columns_json,
        name="runs-columns",
    ),
    path(
        "w/<slug:workspace>/<slug:project>/runs.csv",
        csv_export.runs_csv,
        name="runs-csv",
    ),
    path(
        "w/<slug:workspace>/<slug:project>/runs/charts",
        charts.runs_charts,
        name="runs-charts",
    ),
    path(
        "w/<slug:workspace>/<slug:project>/runs/tag", bulk_changes.tag, name="runs-tag"
    ),
    path(
        "w/<slug:workspace>/<slug:project>/runs/trash",
        bulk_changes.move,
        name="runs-trash",
    ),
    path(
        "w/<slug:workspace>/<slug:project>/runs/restore",
        bulk_changes.put_back,
        name="runs-restore",
    ),
    path(
        "w/<slug:workspace>/<slug:project>/runs/changed",
        bulk_changes.changed,
        name="runs-changed",
    ),
    path("w/<slug:workspace>/<slug:project>/views", saved_views.keep, name="view-keep"),
    path("views/<uuid:view_id>", saved_views.change, name="view-change"),
    path("views/<uuid:view_id>/delete", saved_views.delete, name="view-delete"),
]
