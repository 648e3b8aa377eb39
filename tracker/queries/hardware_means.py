"""How busy a run's hardware was on average, as expressions over the run's row.

Both are means over all stages, weighted by how long each was watched, and null where
nothing was measured. The CPU's is that of the process that logs and its children: its
cores' mean over the cores the job may use. Ranks beyond the first share those cores.
"""

from __future__ import annotations

from django.db.models import (
    F,
    FloatField,
    OuterRef,
    QuerySet,
    Subquery,
    Sum,
    Value,
)
from django.db.models.functions import Cast, NullIf, Replace

from tracker.models import Attribute

CPU_CORES, EFFECTIVE_CORES = "/job/cpu_cores", "/facts/effective_cores"


def gpu_percent() -> Subquery:
    readings = _monitored("/utilization_percent").filter(path__contains="/gpu/")
    return _mean(readings.annotate(busy=F("total")))


def cpu_percent() -> Subquery:
    cores = Attribute.objects.filter(
        run=OuterRef("run"),
        path=Replace(OuterRef("path"), Value(CPU_CORES), Value(EFFECTIVE_CORES)),
        number__gt=0,
    )
    readings = (
        _monitored(CPU_CORES)
        .exclude(path__contains="/rank-")
        .annotate(cores=Subquery(cores.values("number")[:1]))
        .filter(cores__gt=0)
    )
    return _mean(readings.annotate(busy=100 * F("total") / F("cores")))


def _monitored(end: str) -> QuerySet[Attribute]:
    """Return the series of this end that the agent itself wrote for a run."""
    return Attribute.objects.filter(
        run=OuterRef("pk"), path__startswith="monitoring/", path__endswith=end
    )


def _mean(readings: QuerySet[Attribute]) -> Subquery:
    finite_count = Cast(Sum("finite_count"), FloatField())
    mean = Sum("busy") / NullIf(finite_count, Value(0.0))
    return Subquery(
        # One group: the run's.
        readings.order_by().values("run").annotate(mean=mean).values("mean"),
        output_field=FloatField(),
    )
