"""Diagnoses runs again, for example after an upgrade or a change of limits."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from uuid import UUID

from django.db.models import Q, QuerySet

from tracker.actions.diagnoses.diagnoses import diagnose_run
from tracker.models import Run, Stage
from tracker.queries.diagnoses.rules_version import rules_version

logger = logging.getLogger(__name__)

RUNS_AT_ONCE = 200


class Done(Enum):
    DIAGNOSED = auto()
    UP_TO_DATE = auto()  # already diagnosed with these rules
    FAILED = auto()  # the log has the reason


@dataclass(frozen=True, slots=True)
class Rediagnosis:
    run_id: UUID
    name: str
    done: Done


def runs_of(*, project: str = "", run_id: UUID | None = None) -> QuerySet[Run]:
    """Select runs by the slug or name of their project, or one run by id."""
    runs = Run.objects.not_in_trash()
    if project:
        runs = runs.filter(Q(project__slug=project) | Q(project__name=project))
    return runs if run_id is None else runs.filter(id=run_id)


def diagnose_again(
    runs: QuerySet[Run], *, only_outdated: bool = False, after: UUID | None = None
) -> Iterator[Rediagnosis]:
    """Diagnose runs in order of id, starting after `after`; idempotent.

    A failure does not stop the others.
    """
    last = after
    while some := _next_runs(runs, last):
        last = some[-1].id
        outdated = _outdated(some) if only_outdated else {run.id for run in some}
        for run in some:
            done = _diagnose(run) if run.id in outdated else Done.UP_TO_DATE
            yield Rediagnosis(run.id, run.name, done)


def _next_runs(runs: QuerySet[Run], last: UUID | None) -> list[Run]:
    rest = runs if last is None else runs.filter(id__gt=last)
    return list(rest.select_related("project").order_by("id")[:RUNS_AT_ONCE])


def _outdated(runs: Sequence[Run]) -> set[UUID]:
    """Return runs with a stage that was diagnosed with other rules, or never."""
    versions = {run.id: rules_version(run.project) for run in runs}
    rows = Stage.objects.filter(run_id__in=versions).values_list(
        "run_id", "diagnosis__rules_version"
    )
    return {run_id for run_id, version in rows if version != versions[run_id]}


def _diagnose(run: Run) -> Done:
    try:
        diagnose_run(run.id)
    except Exception:
        logger.exception("diagnosing run %s failed", run.id)
        return Done.FAILED
    return Done.DIAGNOSED
