"""What the newest runs of a project have: metrics, parameters, tags, users.

Default columns and suggestions come from the newest runs only, because reading all would cost
one row per attribute of the project.
"""

from __future__ import annotations

from collections.abc import Iterator
from uuid import UUID

from django.db.models import Count, Max, Min, Q, QuerySet

from tracker.models import Attribute, Finding, Kind, Run, User
from tracker.queries.run.attributes import IS_PARAMETER
from tracker.queries.run.namespaces import MONITORING, PARAMS, TAGS_PATH
from tracker.queries.runs.verdicts import verdicts
from tracker.queries.series.metrics import importance

RUNS_LOOKED_AT = 100
METRICS_SHOWN, PARAMS_SHOWN = 6, 6
METRICS_LOOKED_AT = 200
SINGLE_VALUES = (
    *(Kind.FLOAT, Kind.INTEGER, Kind.BOOLEAN, Kind.STRING, Kind.DATETIME),
    Kind.NONE,
)
# The tags offered to filter by come from at most this many runs.
RUNS_ASKED_FOR_TAGS = 1_000


def metric_paths(project_id: int) -> list[str]:
    """Return the metrics that most of the newest runs logged, quality metrics first.

    A run that failed early has no quality: half of the most frequent metric's runs are
    enough. A single number is a final result unless it was set before training.
    """
    paths = (
        _attributes_of_newest(project_id)
        .filter(kind__in=(Kind.FLOAT_SERIES, Kind.FLOAT))
        .exclude(path__startswith=MONITORING)
        .exclude(path__startswith=PARAMS)
        .exclude(IS_PARAMETER)
        .values("path")
        .annotate(run_count=Count("run"))
        .order_by("-run_count", "path")
    )
    counts = {row["path"]: row["run_count"] for row in paths[:METRICS_LOOKED_AT]}
    most = max(counts.values(), default=0)

    def rarity(path: str) -> int:
        return 0 if counts[path] * 2 > most else most - counts[path]

    commonest = sorted(counts, key=lambda path: (rarity(path), importance(path)))
    return sorted(commonest[:METRICS_SHOWN], key=importance)


def series_among(project_id: int, paths: list[str]) -> list[str]:
    """Return the paths at which the newest runs have a series, in the given order."""
    found = set(
        _attributes_of_newest(project_id)
        .filter(path__in=paths, kind=Kind.FLOAT_SERIES)
        .values_list("path", flat=True)
    )
    return [path for path in paths if path in found]


def changed_params(project_id: int) -> list[str]:
    """Return the parameters in which the newest runs differ."""
    params = (
        _attributes_of_newest(project_id)
        .filter(IS_PARAMETER, kind__in=SINGLE_VALUES)
        .values("path")
        .annotate(
            run_count=Count("run"),
            lowest=Min("number"),
            highest=Max("number"),
            first=Min("text"),
            last=Max("text"),
            number_count=Count("number"),
            nan_count=Count("run", filter=Q(is_nan=True)),
        )
        .order_by("-run_count", "path")
    )
    changed = [
        row["path"]
        for row in params
        if row["lowest"] != row["highest"]
        or row["first"] != row["last"]
        or 0 < row["nan_count"] < row["run_count"]
        or 0 < row["number_count"] < row["run_count"]
    ]
    return changed[:PARAMS_SHOWN]


def run_columns_in_use(project_id: int) -> set[str]:
    """Return which of "made_by", "tags" and "finding" have something to show."""
    return set(_run_columns_in_use(_newest(project_id, RUNS_LOOKED_AT)))


def _run_columns_in_use(newest: QuerySet[Run, UUID]) -> Iterator[str]:
    made = Run.objects.filter(id__in=newest, made_by__isnull=False)
    # The one user of a project does not need the column.
    if made.order_by().values("made_by").distinct().count() > 1:
        yield "made_by"
    tags = Attribute.objects.filter(run__in=newest, path=TAGS_PATH)
    if any(tags.values_list("items", flat=True)):
        yield "tags"
    # A column that says only "not enough data" is not shown.
    has_findings = Finding.objects.filter(run__in=newest).exists()
    if has_findings or any(v.is_judged for v in verdicts(newest).values()):
        yield "finding"


def project_tags(project_id: int) -> list[str]:
    tags = Attribute.objects.filter(
        run__in=_newest(project_id, RUNS_ASKED_FOR_TAGS), path=TAGS_PATH
    ).values_list("items", flat=True)
    return sorted({tag for items in tags for tag in items or []})


def makers_of(project_id: int) -> list[User]:
    """Return the users who started the newest runs, by username."""
    newest = Run.objects.filter(id__in=_newest(project_id, RUNS_ASKED_FOR_TAGS))
    makers = User.objects.filter(id__in=newest.order_by().values("made_by"))
    return list(makers.order_by("username"))


def _newest(project_id: int, count: int) -> QuerySet[Run, UUID]:
    runs = Run.objects.filter(project_id=project_id).not_in_trash()
    return runs.order_by("-created_at").values_list("id", flat=True)[:count]


def _attributes_of_newest(project_id: int) -> QuerySet[Attribute]:
    return Attribute.objects.filter(run__in=_newest(project_id, RUNS_LOOKED_AT))
