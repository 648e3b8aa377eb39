"""Finds attributes for columns of the runs table by a part of their paths.

An index finds paths that begin with the text. Paths that only contain it are searched among the
newest runs, because a project can have millions of paths.
"""

from __future__ import annotations

from django.db.models import Q

from tracker.models import Attribute, Kind, Run
from tracker.queries.run.attributes import storable
from tracker.queries.run.namespaces import MONITORING, PROFILE
from tracker.queries.run.paths import PathRow, paths_beginning
from tracker.queries.runs.columns import each_of, holds
from tracker.queries.series.metrics import importance

RUNS_LOOKED_AT = 5
ROWS_LOOKED_AT = 2_000
SHOWN = 60
# Kinds that a table cell cannot show.
LEFT_OUT = (
    Kind.HISTOGRAM_SERIES,
    Kind.IMAGE_SERIES,
    Kind.FILE_SERIES,
    Kind.FILE,
)


def search_columns(project_id: int, text: str) -> list[PathRow]:
    """Return paths that contain the text, ignoring case, the best first."""
    if not storable([text]):
        return []
    beginning = paths_beginning(project_id, text) if text else []
    newest = Run.objects.filter(project_id=project_id).not_in_trash()
    ids = newest.order_by("-created_at").values_list("id", flat=True)
    rows = Attribute.objects.filter(
        holds("path", text), run_id__in=each_of(list(ids[:RUNS_LOOKED_AT]))
    ).exclude(Q(kind__in=LEFT_OUT) | Q(path__endswith=PROFILE))
    holding = rows.order_by("path").values_list("path", "kind")[:ROWS_LOOKED_AT]
    found = {row.path: row.kind for row in beginning if _is_shown(row)}
    for path, kind in holding:
        found.setdefault(path, kind)
    best = sorted(found, key=lambda path: _place(path, text))
    return [PathRow(path, found[path]) for path in best[:SHOWN]]


def _is_shown(row: PathRow) -> bool:
    return row.kind not in LEFT_OUT and not row.path.endswith(PROFILE)


def _place(path: str, text: str) -> tuple[bool, bool, tuple[object, ...]]:
    """Return the sort key: paths with a part that begins with the text come first."""
    lower, wanted = path.lower(), text.lower()
    begins = lower.startswith(wanted) or f"/{wanted}" in lower
    return path.startswith(MONITORING), not begins, importance(path)
