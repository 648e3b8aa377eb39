"""GPU use of a project's earlier runs, for the rule about the size of the GPU.

Reads only the summaries of series, no points.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from uuid import UUID

from tracker.diagnosis.signals import Fact
from tracker.models import Attribute, Run, Stage, State
from tracker.queries.run.attributes import storable
from tracker.queries.run.namespaces import monitoring_path
from tracker.queries.runs.columns import each_of

# The latest runs are checked, and the latest comparable ones of those are used.
MAX_LOOKED_AT = 20
MAX_COMPARED = 5
# Shorter runs are tests.
FEWEST_SECONDS = 300
# Cards of one model report slightly different memory sizes.
SAME_MEMORY_SHARE = 0.05
# On a machine with more GPUs, only the first ones are read.
MAX_GPUS = 16

BUSY = "gpu/{}/utilization_p95_percent"
USED = "gpu/{}/memory_used_bytes"
TOTAL = "facts/gpu/{}/memory_total_bytes"

# Values of one GPU: utilization in percent, and the highest share of memory in use.
Use = tuple[float, float]
COLUMNS = ("number", "total", "finite_count", "maximum", "first_time", "last_time")


def facts_of_earlier_runs(
    stage: Stage, gpu_memory_bytes: Collection[float]
) -> dict[str, Fact]:
    """Return the number of runs on GPUs with the same memory, and their highest use."""
    started_at = stage.run.started_at
    if started_at is None or not gpu_memory_bytes:
        return {}
    runs = list(
        Run.objects.filter(project_id=stage.run.project_id, started_at__lt=started_at)
        .exclude(pk=stage.run_id)
        .exclude(state=State.RUNNING)
        .not_in_trash()
        .order_by("-started_at", "-id")
        .values_list("id", flat=True)[:MAX_LOOKED_AT]
    )
    found = _summaries(runs, stage.name) if runs else {}
    uses = [
        use
        for run in runs
        if (use := _use(found.get(run, {}), stage.name, gpu_memory_bytes)) is not None
    ][:MAX_COMPARED]
    if not uses:
        return {"earlier_runs": 0.0}
    return {
        "earlier_runs": float(len(uses)),
        "earlier_runs_gpu_p95_percent": max(busy for busy, _ in uses),
        "earlier_runs_gpu_memory_share": max(share for _, share in uses),
    }


def _summaries(
    runs: Collection[UUID], stage_name: str
) -> dict[UUID, dict[str, Attribute]]:
    paths = storable(
        monitoring_path(stage_name, path.format(gpu))
        for gpu in range(MAX_GPUS)
        for path in (BUSY, USED, TOTAL)
    )
    rows = Attribute.objects.filter(run_id__in=each_of(runs), path__in=paths)
    found: dict[UUID, dict[str, Attribute]] = {}
    for row in rows.only("run_id", "path", *COLUMNS):
        found.setdefault(row.run_id, {})[row.path] = row
    return found


def _use(
    summaries: Mapping[str, Attribute], stage_name: str, like: Iterable[float]
) -> Use | None:
    """Return the highest utilization and memory share of a run's GPUs; None if unknown."""
    uses = []
    for gpu in range(MAX_GPUS):
        busy, used, total = (
            summaries.get(monitoring_path(stage_name, path.format(gpu)))
            for path in (BUSY, USED, TOTAL)
        )
        if total is None and used is None:
            continue
        use = _use_of_gpu(busy, used, total, like)
        if use is None:
            # If one of its GPUs is unknown, so is the maximum.
            return None
        uses.append(use)
    if not uses:
        return None
    return max(busy for busy, _ in uses), max(share for _, share in uses)


def _use_of_gpu(
    busy: Attribute | None,
    used: Attribute | None,
    total: Attribute | None,
    like: Iterable[float],
) -> Use | None:
    if busy is None or used is None or total is None:
        return None
    memory, highest = total.number, used.maximum
    first, last = used.first_time, used.last_time
    if not memory or highest is None or first is None or last is None:
        return None
    if not busy.finite_count or last - first < FEWEST_SECONDS * 1e6:
        return None
    if not any(abs(memory - other) <= SAME_MEMORY_SHARE * other for other in like):
        return None
    return busy.total / busy.finite_count, highest / memory
