"""The main finding of each of very many runs: what one is found and grouped by."""

from __future__ import annotations

from django.db.models import Case, Exists, F, IntegerField, OuterRef, Q, QuerySet, When
from django.db.models import Value as Constant

from tracker.diagnosis.chain import SEVERITIES
from tracker.models import Finding
from tracker.queries.some_runs import SomeRuns, Sorted

# By what one is worse than another; of those that are equal in all, the newest.
RANKED = ("rank", "confidence", "id")


def by_finding(found: SomeRuns) -> Sorted:
    """Return the worst primary finding of each run that has one, by its title."""
    rows = primary_findings().filter(run__in=found.runs())
    return rows.filter(~Exists(_worse())), F("title")


def primary_findings() -> QuerySet[Finding]:
    """Return what is open, the symptom of no other and dismissed by nobody, with its rank."""
    ranks = [
        When(severity=name, then=Constant(rank)) for rank, name in enumerate(SEVERITIES)
    ]
    rows = Finding.objects.filter(is_open=True, is_primary=True, dismissed_at=None)
    return rows.annotate(rank=Case(*ranks, output_field=IntegerField()))


def _worse() -> QuerySet[Finding]:
    rank, confidence, finding_id = map(OuterRef, RANKED)
    as_bad = Q(rank=rank, confidence__gt=confidence)
    as_sure = Q(rank=rank, confidence=confidence, id__gt=finding_id)
    return primary_findings().filter(
        Q(rank__gt=rank) | as_bad | as_sure, run=OuterRef("run")
    )
