"""URLs of the pages about charts."""

from __future__ import annotations

from django.urls import URLPattern, path

from web.pages.charts import (
    arrangements,
    figures,
    panel_dashboards,
    panels,
    run_charts,
    run_marks,
    series_figures,
)
from web.pages.charts.plotly_bundle import plotly_bundle

urlpatterns: list[URLPattern] = [
    path("plotly.js", plotly_bundle, name="plotly-bundle"),
    path(
        "w/<slug:workspace>/<slug:project>/charts/arrangement",
        arrangements.arrange_charts,
        name="charts-arrangement",
    ),
    path(
        "w/<slug:workspace>/<slug:project>/charts/panel",
        panels.panel_form,
        name="panel-form",
    ),
    path(
        "w/<slug:workspace>/<slug:project>/charts/panel/body",
        panels.panel_body,
        name="panel-body",
    ),
    path(
        "w/<slug:workspace>/<slug:project>/charts/panel/figure",
        panels.panel_figure,
        name="panel-figure",
    ),
    path(
        "w/<slug:workspace>/<slug:project>/charts/panel/dashboard",
        panel_dashboards.panel_dashboard,
        name="panel-dashboard",
    ),
    path("runs/<uuid:run_id>/charts", run_charts.charts, name="run-charts"),
    path(
        "runs/<uuid:run_id>/charts/search",
        run_charts.search_charts,
        name="run-charts-search",
    ),
    path("runs/<uuid:run_id>/figures/series", series_figures.series, name="run-series"),
    path(
        "runs/<uuid:run_id>/figures/charts",
        series_figures.charts,
        name="run-charts-figures",
    ),
    path(
        "runs/<uuid:run_id>/figures/histograms",
        figures.histograms,
        name="run-histograms",
    ),
    path("runs/<uuid:run_id>/figures/stages", figures.stages, name="run-stages"),
    path(
        "runs/<uuid:run_id>/figures/hardware",
        figures.hardware,
        name="run-hardware-figure",
    ),
    path("runs/<uuid:run_id>/figures/evidence", figures.evidence, name="run-evidence"),
    path(
        "w/<slug:workspace>/<slug:project>/compare/marks",
        run_marks.compare_marks,
        name="compare-marks",
    ),
]
