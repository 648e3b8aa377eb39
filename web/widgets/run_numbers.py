"""The number of each run, for a value over runs: of all that match, or of those shown."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext

from tracker.queries.run.attributes import AttributeRow
from tracker.queries.runs.column_keys import NUMBERS_OF_RUN, PATH_MARK
from tracker.queries.runs.filter.fields import FieldValue
from tracker.queries.runs.over_runs import OverRuns, mean_of
from web.pages.compare.state import as_id
from web.pages.dashboards.widget_kind import WITHHELD, Scene, SeenValues
from web.pages.runs.fields import path_of

SERIES = "float_series"


@dataclass(frozen=True, slots=True)
class Known:
    """A run with its number."""

    run: Any
    value: float


@dataclass(frozen=True, slots=True)
class RunNumbers:
    """A value over runs, as OverRuns, with the number of the reference run.

    `reference` is the run, which may lack a number; `is_metric` is true if a relative
    change of the number makes sense.
    """

    over: OverRuns
    reference: Any
    reference_value: float | None
    is_metric: bool


def number_field(metric: str) -> str | None:
    """Return the number that every run has, if the metric is one, and no attribute."""
    return metric if metric in NUMBERS_OF_RUN else None


def column_key(metric: str, summary: str) -> str:
    """Return the column of the runs table that holds these numbers."""
    mark = PATH_MARK if summary == "last" else f"{summary}:"
    return number_field(metric) or f"{mark}{path_of(metric)}"


def over_all(
    scene: Scene, metric: str, summary: str, over: str, reference: str
) -> RunNumbers:
    """Return the value over all runs that match, also those that are not shown."""
    found = scene.over_runs(column_key(metric, summary), over, as_id(reference))
    runs = [run for run in (found.reference, found.run) if run is not None]
    numbers, is_metric = _numbers(scene, runs or scene.runs, metric, summary)
    by_id = {each.run.id: each.value for each in numbers}
    reference_value = by_id.get(found.reference.id) if found.reference else None
    return RunNumbers(found, found.reference, reference_value, is_metric)


def over_shown(
    scene: Scene, metric: str, summary: str, over: str, reference: str
) -> RunNumbers:
    """Return the value over the runs of the widget."""
    known, is_metric = _numbers(scene, scene.runs, metric, summary)
    compared = next((run for run in scene.runs if str(run.id) == reference), None)
    by_id = {each.run.id: each.value for each in known}
    value, best = _over(known, over) if known else (None, None)
    best_run = None if best is None else best.run
    found = OverRuns(len(scene.runs), len(known), value, best_run)
    reference_value = by_id.get(compared.id) if compared else None
    return RunNumbers(found, compared, reference_value, is_metric)


def why_none(scene: Scene, metric: str) -> str:
    """Return the reason that no run has a number."""
    if number_field(metric) is not None:
        return gettext("No run has this value.")
    path = path_of(metric)
    found = scene.values(scene.runs, [path])
    if found.withheld:
        return str(WITHHELD)
    rows = [held[path] for held in found.by_run.values() if path in held]
    if any(row.kind == SERIES and row.value is None for row in rows):
        said = gettext(
            "The first points of “%(path)s” are being processed. Check back soon."
        )
    else:
        said = gettext(
            "None of these runs has a number “%(path)s”. It may have been renamed or"
            " not logged yet."
        )
    return said % {"path": path}


def summary_value(row: AttributeRow, summary: str) -> float | None:
    """Return the requested statistic of an attribute; a single value is its own
    summary.
    """
    if row.kind == SERIES and summary != "last":
        return {"min": row.minimum, "max": row.maximum, "mean": row.mean}[summary]
    if isinstance(row.value, bool) or not isinstance(row.value, int | float):
        return None
    try:
        return float(row.value)
    except OverflowError:
        return None


def _numbers(
    scene: Scene, runs: Sequence[Any], metric: str, summary: str
) -> tuple[list[Known], bool]:
    """Return the runs with a number, and whether it is a metric."""
    field = number_field(metric)
    if field is not None:
        return _known(runs, scene.fields(runs, [field])[field]), True
    path = path_of(metric)
    found: SeenValues = scene.values(runs, [path])
    rows = [found.by_run[run.id].get(path) for run in runs]
    values = [None if row is None else summary_value(row, summary) for row in rows]
    is_metric = any(row is not None and row.is_metric for row in rows)
    return _known(runs, values), is_metric


def _known(runs: Sequence[Any], values: Sequence[FieldValue]) -> list[Known]:
    """Return the runs with a number."""
    return [
        Known(run, value)
        for run, value in zip(runs, values, strict=True)
        if isinstance(value, float) and not math.isnan(value)
    ]


def _over(known: Sequence[Known], over: str) -> tuple[float, Known | None]:
    if over == "mean":
        return mean_of(each.value for each in known), None
    if over == "first":
        return known[0].value, known[0]
    best = (max if over == "highest" else min)(known, key=lambda each: each.value)
    return best.value, best
