"""URLs of the pages about compare."""

from __future__ import annotations

from django.urls import URLPattern, path

from web.pages.compare import compare, figures, media, values

urlpatterns: list[URLPattern] = [
    path("w/<slug:workspace>/<slug:project>/compare", compare.compare, name="compare"),
    path(
        "w/<slug:workspace>/<slug:project>/compare/figure",
        figures.compare_figure,
        name="compare-figure",
    ),
    path(
        "w/<slug:workspace>/<slug:project>/compare/figures",
        figures.compare_figures,
        name="compare-figures",
    ),
    path(
        "w/<slug:workspace>/<slug:project>/compare/scatter",
        values.compare_scatter,
        name="compare-scatter",
    ),
    path(
        "w/<slug:workspace>/<slug:project>/compare/hardware",
        figures.compare_hardware,
        name="compare-hardware",
    ),
    path(
        "w/<slug:workspace>/<slug:project>/compare/table",
        compare.compare_table,
        name="compare-table",
    ),
    path(
        "w/<slug:workspace>/<slug:project>/compare/media",
        media.compare_media,
        name="compare-media",
    ),
    path(
        "w/<slug:workspace>/<slug:project>/compare/search",
        compare.compare_search,
        name="compare-search",
    ),
]
