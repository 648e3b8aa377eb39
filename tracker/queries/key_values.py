"""The few values of a run that say most about it, of however many it has."""

from __future__ import annotations

from dataclasses import dataclass
from heapq import nsmallest

from django.db.models import Q

from tracker.models import Kind, Run
from tracker.queries.attributes import AttributeRow, attribute_paths, attribute_values
from tracker.queries.metrics import importance
from tracker.queries.namespaces import MONITORING, PARAMS

MOST_METRICS, MOST_PARAMS = 12, 40

# A number logged once is a metric, too: many report their accuracy at the end.
IS_METRIC = Q(kind__in=(Kind.FLOAT, Kind.FLOAT_SERIES)) & (
    Q(count__gt=0) | Q(number__isnull=False) | Q(is_nan=True)
)


@dataclass(frozen=True, slots=True)
class KeyValues:
    """The main metrics and the first parameters, and how many there are of each."""

    metrics: list[AttributeRow]
    metric_count: int
    params: list[AttributeRow]
    param_count: int


def key_values(run: Run) -> KeyValues:
    metrics = [
        path
        for path in attribute_paths(run, where=IS_METRIC)
        if not path.startswith((MONITORING, PARAMS))
    ]
    params = attribute_paths(run, PARAMS)
    main = nsmallest(MOST_METRICS, metrics, key=importance)
    first = params[:MOST_PARAMS]
    rows = attribute_values([run.id], [*main, *first])[run.id]
    return KeyValues(
        metrics=[rows[path] for path in main if path in rows],
        metric_count=len(metrics),
        params=[rows[path] for path in first if path in rows],
        param_count=len(params),
    )
