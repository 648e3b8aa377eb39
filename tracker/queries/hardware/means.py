"""Mean GPU and CPU use of several runs.

Both are means over all stages, weighted by their number of samples, and None if not measured.
CPU use is that of the logging process and its children, relative to the cores that the job may
use. Other ranks share those cores.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TypeAlias
from uuid import UUID

from django.db.models import Case, CharField, F, Max, Q, Sum, Value, When

from tracker.models import Attribute
from tracker.queries.run.attributes import beginning_with
from tracker.queries.run.namespaces import MONITORING
from tracker.queries.runs.columns import each_of

CPU_CORES, EFFECTIVE_CORES = "/job/cpu_cores", "/facts/effective_cores"

OF_GPUS = Q(path__contains="/gpu/", path__endswith="/utilization_percent")
OF_CPUS = Q(path__endswith=CPU_CORES) | Q(path__endswith=EFFECTIVE_CORES)
OTHER_RANK = "/rank-"
OF_FIRST_RANK = ~Q(path__contains=OTHER_RANK)


@dataclass(frozen=True, slots=True)
class HardwareMeans:
    gpu_percent: float | None = None
    cpu_percent: float | None = None


@dataclass(frozen=True, slots=True)
class Readings:
    """Sums over the samples of one path, or of all GPUs together."""

    total: float
    count: int
    last: float | None


Group: TypeAlias = Mapping[str, Readings]
GPUS = ""  # no path


def hardware_means(run_ids: Collection[UUID]) -> dict[UUID, HardwareMeans]:
    """Return the means of these runs in one statement; runs without any are absent."""
    rows = (
        Attribute.objects.filter(
            beginning_with(MONITORING), run_id__in=each_of(run_ids)
        )
        .filter(OF_GPUS | (OF_CPUS & OF_FIRST_RANK))
        .annotate(
            group=Case(
                When(OF_GPUS, then=Value(GPUS)),
                default=F("path"),
                output_field=CharField(),
            )
        )
        .order_by()
        .values("run_id", "group")
        .annotate(sum=Sum("total"), readings=Sum("finite_count"), last=Max("number"))
    )
    groups: dict[UUID, dict[str, Readings]] = {}
    for row in rows:
        readings = Readings(row["sum"], row["readings"], row["last"])
        groups.setdefault(row["run_id"], {})[row["group"]] = readings
    return {
        run_id: HardwareMeans(_gpu_percent(group), _cpu_percent(group))
        for run_id, group in groups.items()
    }


def affects_means(path: str) -> bool:
    """Return whether a value other than a series affects the means."""
    return path.endswith(EFFECTIVE_CORES) and OTHER_RANK not in path


def _gpu_percent(group: Group) -> float | None:
    gpus = group.get(GPUS)
    return gpus.total / gpus.count if gpus and gpus.count else None


def _cpu_percent(group: Group) -> float | None:
    busy, count = 0.0, 0
    for path, used in group.items():
        if not path.endswith(CPU_CORES):
            continue
        cores = group.get(path.removesuffix(CPU_CORES) + EFFECTIVE_CORES)
        if cores is not None and cores.last is not None and cores.last > 0:
            busy += 100 * used.total / cores.last
            count += used.count
    return busy / count if count else None
