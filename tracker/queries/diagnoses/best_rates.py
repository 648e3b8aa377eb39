"""The best read rate of earlier runs on the same machine."""

from __future__ import annotations

from math import isfinite

from django.db.models import Max

from tracker.models import Attribute, Run, Stage
from tracker.queries.run.namespaces import monitoring_path
from tracker.queries.runs.columns import each_of

HOST = "facts/host"
READ_RATE = "job/read_bytes_per_second"

# Old rates may no longer describe the machine, and a project can have very many runs.
MAX_RUNS = 200


def best_read_rate(stage: Stage, host: str) -> float | None:
    """Return the best rate of this stage in other runs on the host, in bytes/s.

    From the newest runs of the project; None if none of them read there. Three statements on
    summaries; no points are read.
    """
    run = stage.run
    newest = (
        Run.objects.not_in_trash()
        .filter(project_id=run.project_id)
        .exclude(id=run.id)
        .order_by("-created_at")
        .values_list("id", flat=True)[:MAX_RUNS]
    )
    there = Attribute.objects.filter(
        run_id__in=each_of(list(newest)),
        path=monitoring_path(stage.name, HOST),
        text=host,
    ).values_list("run_id", flat=True)
    best = Attribute.objects.filter(
        run_id__in=each_of(list(there)), path=monitoring_path(stage.name, READ_RATE)
    ).aggregate(best=Max("maximum"))["best"]
    return float(best) if best is not None and isfinite(best) and best > 0 else None
