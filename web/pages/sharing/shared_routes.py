"""Routes that a share link can open, with the part that each needs.

Other routes are refused: a new route is closed until it is added here. The queries
decide which runs and ladders a link opens.
"""

from __future__ import annotations

from tracker.actor import Part

OPEN: dict[str, Part | None] = {
    "run": None,
    "run-header": None,
    "run-charts": None,
    "run-hardware": None,
    "run-attributes": None,
    "run-charts-search": None,
    "run-series": None,
    "run-charts-figures": None,
    "run-histograms": None,
    "run-stages": None,
    "run-hardware-figure": None,
    "run-evidence": None,
    "run-source": Part.ENVIRONMENT,
    # Names of files and functions, and lines of the script.
    "run-profile": Part.ENVIRONMENT,
    "run-logs": Part.LOGS,
    "api-v1:read_records": Part.LOGS,
    "api-v1:find_records": Part.LOGS,
    "api-v1:download_text": Part.LOGS,
    "run-media": Part.FILES,
    "run-media-panel": Part.FILES,
    "run-media-file": Part.FILES,
    "run-media-html": Part.FILES,
    "run-media-table": Part.FILES,
    "run-media-table-csv": Part.FILES,
    "run-media-points": Part.FILES,
    "run-files": Part.FILES,
    "run-file-preview": Part.FILES,
    "run-file-picture": Part.FILES,
    "run-file-figure": Part.FILES,
    "run-file-html": Part.FILES,
    "api-v1:read_content": Part.FILES,
    "api-v1:read_archive": Part.FILES,
    "compare": None,
    "compare-figure": None,
    "compare-figures": None,
    "compare-scatter": Part.CONFIG,
    "compare-hardware": None,
    "compare-table": None,
    # Histograms are measured; texts and pictures need the ticks that they need elsewhere.
    "compare-media": None,
    "compare-marks": None,
    "panel-body": None,
    "panel-figure": None,
    "ladder": None,
    "ladder-figure": None,
    "ladder-report": None,
    "dashboard": None,
    "widget-body": None,
    "widget-figure": None,
    "widget-picture": Part.FILES,
    "widget-medium": Part.FILES,
    "report": None,
    "report-widget-body": None,
    "report-widget-figure": None,
    "report-picture": Part.FILES,
    "report-widget-medium": Part.FILES,
    # A library.
    "plotly-bundle": None,
    # The documentation of rules is public.
    "rule": None,
}


def opens(route: str, parts: frozenset[Part]) -> bool:
    if route not in OPEN:
        return False
    needed = OPEN[route]
    return needed is None or needed in parts
