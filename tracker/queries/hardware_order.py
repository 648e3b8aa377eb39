"""How busy the hardware of very many runs was, to sort them by it.

The same means as in hardware_means.py. There each run's are looked up, which suits a
page of them; here one pass over an index yields those of all.
"""

from __future__ import annotations

from django.db.models import (
    F,
    FloatField,
    Max,
    Q,
    Sum,
    Value,
)
from django.db.models.expressions import Combinable
from django.db.models.functions import Cast, Coalesce, NullIf

from tracker.queries.hardware_means import CPU_CORES, EFFECTIVE_CORES
from tracker.queries.namespaces import MONITORING
from tracker.queries.paths import walk
from tracker.queries.some_runs import SomeRuns, Sorted

MOST_PATHS = 5_000
# More would make a statement that SQLite finds too deep. One script is one stage.
MOST_STAGES = 50

NOTHING = Value(0.0)
# Of a set of paths that is empty, the ORM would say that no run matches at all.
NO_PATH = [""]


def by_gpu(found: SomeRuns) -> Sorted:
    paths = [
        path
        for path in _monitored(found.project_id, "/utilization_percent")
        if "/gpu/" in path
    ]
    rows = found.attributes().filter(path__in=paths or NO_PATH, finite_count__gt=0)
    if len(paths) == 1:
        # PostgreSQL may divide before it has left out those without readings.
        return rows, F("total") / NullIf(_as_float(F("finite_count")), NOTHING)
    mean = Sum("total") / _as_float(Sum("finite_count"))
    return rows.order_by().values("run_id"), mean


def by_cpu(found: SomeRuns) -> Sorted:
    busy: Combinable = NOTHING
    finite: Combinable = NOTHING
    paths: list[str] = []
    for path in _monitored(found.project_id, CPU_CORES):
        if "/rank-" in path or len(paths) == 2 * MOST_STAGES:
            continue
        available = path.removesuffix(CPU_CORES) + EFFECTIVE_CORES
        paths += [path, available]
        cores = Max("number", filter=Q(path=available, number__gt=0))
        total = Max("total", filter=Q(path=path))
        count = _as_float(Max("finite_count", filter=Q(path=path)))
        busy = busy + Coalesce(100 * total / cores, NOTHING)
        # Where nothing is known of the cores, nothing was watched.
        finite = finite + Coalesce(count * cores / cores, NOTHING)
    mean = busy / NullIf(finite, NOTHING)
    rows = found.attributes().filter(path__in=paths or NO_PATH).order_by()
    return rows.values("run_id"), mean


def _monitored(project_id: int, end: str) -> list[str]:
    rows = walk(project_id, MONITORING, most=MOST_PATHS)
    return [row.path for row in rows if row.path.endswith(end)]


def _as_float(value: Combinable) -> Cast:
    return Cast(value, FloatField())
