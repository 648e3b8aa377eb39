"""Counts rows, and finds work that waits too long."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta

from django.apps import apps
from django.db.models import F, Q, QuerySet

from tracker.integrity.problem import Problem, Severity
from tracker.models import ProcessRole, Run, Rung, Work

# Work is claimed within seconds, so after this time it is stuck.
STUCK = timedelta(minutes=10)
# Deletion takes seconds per million points.
LONG_PURGE = timedelta(hours=6)
MANY_ATTEMPTS = 5
LISTED = 20


def table_counts() -> dict[str, int]:
    """Return the number of rows of each of our tables."""
    models = apps.get_app_config("tracker").get_models()
    return {
        model.__name__: QuerySet(model).count()
        for model in sorted(models, key=lambda model: model.__name__)
    }


def process_problems(missing: Iterable[ProcessRole]) -> Iterator[Problem]:
    for role in missing:
        yield Problem(
            Severity.WARNING,
            f"{role}-missing",
            f"the {role}",
            "it does not run, so nothing is compacted, diagnosed, alerted or deleted",
            f"start it with `python3 manage.py {role}`; its log contains why it stopped",
        )


def work_problems(now: datetime) -> Iterator[Problem]:
    waiting = Work.objects.filter(
        Q(leased_until=None, due_at__lt=now - STUCK) | Q(leased_until__lt=now - STUCK)
    )
    if count := waiting.count():
        yield Problem(
            Severity.WARNING,
            "work-waits",
            "background work",
            f"{count:,} pieces of work have waited for more than "
            f"{STUCK.total_seconds() / 60:.0f} minutes",
            "start the server, or its worker and scheduler; see their logs for errors",
        )
    failing = Work.objects.exclude(last_error="").filter(attempts__gte=MANY_ATTEMPTS)
    for work in failing.select_related("run").order_by("-attempts", "id")[:LISTED]:
        yield Problem(
            Severity.WARNING,
            "work-fails",
            f"run {work.run.name} ({work.run_id})",
            f"{work.kind} failed {work.attempts} times: {work.last_error}",
            "see the worker's log; it is retried automatically",
            work.run_id,
        )


def purge_problems(now: datetime) -> Iterator[Problem]:
    for run in Run.objects.filter(purging_at__lt=now - LONG_PURGE)[:LISTED]:
        yield Problem(
            Severity.WARNING,
            "purge-is-slow",
            f"run {run.id}",
            f"it has been deleted since {run.purging_at:%Y-%m-%d %H:%M} UTC and is not "
            "gone yet",
            "start the server, or its worker; see its log for errors",
            run.id,
        )


def ladder_problems() -> Iterator[Problem]:
    astray = Rung.objects.exclude(run__project_id=F("ladder__project_id"))
    for rung in astray.select_related("ladder")[:LISTED]:
        yield Problem(
            Severity.ERROR,
            "rung-project",
            f"ladder {rung.ladder.name} ({rung.ladder_id})",
            f"its rung {rung.position} is a run of another project",
            "edit the ladder and remove that rung",
            rung.run_id,
        )
