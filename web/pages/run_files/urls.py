"""URLs of the pages about run files."""

from __future__ import annotations

from django.urls import URLPattern, path

from web.pages.run_files import attributes, files, logs, media, media_tables, source

urlpatterns: list[URLPattern] = [
    path("runs/<uuid:run_id>/logs", logs.logs, name="run-logs"),
    path(
        "runs/<uuid:run_id>/attributes",
        attributes.attributes,
        name="run-attributes",
    ),
    path(
        "runs/<uuid:run_id>/attributes.csv",
        attributes.attributes_csv,
        name="run-attributes-csv",
    ),
    path("runs/<uuid:run_id>/source", source.source, name="run-source"),
    path("runs/<uuid:run_id>/media", media.media, name="run-media"),
    path("runs/<uuid:run_id>/media/panel", media.media_panel, name="run-media-panel"),
    path("runs/<uuid:run_id>/media/file", media.media_file, name="run-media-file"),
    path(
        "runs/<uuid:run_id>/media/table",
        media_tables.media_table,
        name="run-media-table",
    ),
    path(
        "runs/<uuid:run_id>/media/table.csv",
        media_tables.media_table_csv,
        name="run-media-table-csv",
    ),
    path("runs/<uuid:run_id>/media/html", media.media_html, name="run-media-html"),
    path(
        "runs/<uuid:run_id>/media/points", media.media_points, name="run-media-points"
    ),
    path("runs/<uuid:run_id>/files", files.files, name="run-files"),
    path(
        "runs/<uuid:run_id>/files/preview",
        files.file_preview,
        name="run-file-preview",
    ),
    path(
        "runs/<uuid:run_id>/files/picture",
        files.file_picture,
        name="run-file-picture",
    ),
    path(
        "runs/<uuid:run_id>/files/figure",
        files.file_figure,
        name="run-file-figure",
    ),
    path("runs/<uuid:run_id>/files/html", files.file_html, name="run-file-html"),
]
