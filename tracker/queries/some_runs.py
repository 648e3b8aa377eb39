"""Runs of a project, as what gathers something of each of them asks for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from django.db.models import QuerySet
from django.db.models.expressions import Combinable

from tracker.models import Attribute, Run

# Rows of at most one for each run, and what they say of it.
Sorted: TypeAlias = tuple[QuerySet[Any], Combinable]


class SomeRuns(Protocol):
    @property
    def project_id(self) -> int: ...

    def runs(self) -> QuerySet[Run]: ...

    def attributes(self) -> QuerySet[Attribute]: ...


@dataclass(frozen=True, slots=True)
class EveryRun:
    """All runs of a project, those in its trash among them."""

    project_id: int

    def runs(self) -> QuerySet[Run]:
        return Run.objects.filter(project_id=self.project_id)

    def attributes(self) -> QuerySet[Attribute]:
        return Attribute.objects.filter(project_id=self.project_id)
