"""Which parameters a metric depends on, as a table of bars."""

from __future__ import annotations

from typing import Any

from tracker.disclosure import seen_by
from tracker.queries.compare.importance import read_importance
from tracker.queries.compare.values import OTHERS_AT_MOST, dimensions_of
from web.pages.compare.frame import Comparison
from web.pages.compare.values import fields_but, pictured_runs


def importance_context(comparison: Comparison) -> dict[str, Any]:
    """Return the importance of each parameter for the metric of the address."""
    state, pictured = comparison.state, pictured_runs(comparison)
    seen = seen_by(comparison.actor)
    known = dimensions_of([run.id for run in pictured.runs], seen)
    metrics = [name for name in known.names if name not in known.parameters]
    suggested = [name for name in known.suggested if name in metrics]
    metric = state.y or (suggested or metrics)[0]
    found = read_importance(pictured.runs, metric, sorted(known.parameters), seen)
    return {
        "known": metrics,
        "metric": metric,
        "importance": found,
        "importance_rows": [
            (row, state.having(tab="scatter", x=row.path, y=metric))
            for row in found.rows
        ],
        "among_count": len(pictured.others),
        "among_at_most": OTHERS_AT_MOST,
        "mistake": pictured.mistake,
        "hidden_fields": fields_but(comparison, "among", "query", "y"),
    }
