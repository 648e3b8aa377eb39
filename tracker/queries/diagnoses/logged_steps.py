"""Reads step times from logged points, for scripts that do not time their steps."""

from __future__ import annotations

from django.db.models import Q

from tracker.diagnosis.analysis.log_intervals import steps_of_log
from tracker.diagnosis.breakdown.phases import OF_SERVICES, PhaseKind, kind_of_phase
from tracker.diagnosis.engine.measurements import Steps
from tracker.models import Attribute, Kind, Stage
from tracker.queries.diagnoses.losses import LOSS
from tracker.queries.run.namespaces import MONITORING
from tracker.queries.series.thinned import read_longest

# Their points are not made by a training loop.
OTHER_KINDS = {PhaseKind.EVALUATE, *OF_SERVICES}
MAX_PATHS = 100
# Series of one loop mostly have the same steps.
MAX_SERIES = 3
# Each n-th point of a longer series is read.
MAX_POINTS = 262_144


def read_logged_steps(stage: Stage) -> tuple[Steps, int]:
    """Return the intervals between the points of a series, and their length in steps.

    Losses come first, and then the series with the most points. Series of evaluations,
    requests and other stages do not count, nor those with several writers. Of a long
    series, each n-th point is read, so its intervals are longer.
    """
    points = read_longest(stage.run, _paths(stage), most=MAX_POINTS)
    return steps_of_log(points.steps, points.times)


def _paths(stage: Stage) -> list[str]:
    rows = (
        Attribute.objects.filter(
            run_id=stage.run_id, kind=Kind.FLOAT_SERIES, writers__isnull=True
        )
        .filter(~Q(path__startswith=MONITORING))
        .order_by("-count", "path")
        .values_list("path", flat=True)[:MAX_PATHS]
    )
    stages = Stage.objects.filter(run_id=stage.run_id).exclude(pk=stage.pk)
    others = set(stages.values_list("name", flat=True))
    own = [
        path
        for path in rows
        if kind_of_phase(path) not in OTHER_KINDS
        and path.partition("/")[0] not in others
    ]
    return sorted(own, key=lambda path: LOSS.search(path) is None)[:MAX_SERIES]
