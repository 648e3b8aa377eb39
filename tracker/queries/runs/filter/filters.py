"""Finds and counts the runs of a project that match a filter."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar
from uuid import UUID

from django.db.models import Count, QuerySet
from django.utils import timezone

from tracker.errors import InvalidInput
from tracker.models import Attribute, Run, RunSummary, State
from tracker.patterns import BadPattern, matcher
from tracker.queries.run.namespaces import TAGS_PATH
from tracker.queries.run_query.parser import parse
from tracker.queries.run_query.refusal import BadQuery
from tracker.queries.run_query.tree import (
    AttributeField,
    Both,
    Comparison,
    Either,
    Likeness,
    Match,
    Membership,
    RunField,
    Tree,
)
from tracker.queries.runs.columns import each_of
from tracker.queries.runs.counts import run_count
from tracker.queries.runs.filter.conditions import (
    each_run_where,
    is_led_by_summary,
    leading_path,
    of_runs_where,
    runs_where,
    summary_where,
)
from tracker.queries.runs.packed import PackedIds, packed_bytes, uuids_in
from tracker.texts import is_storable

TEXT_MAX_LENGTH = 1_024
# Up to this number, runs are addressed by their ids, and any order is cheap.
FEW = 1_000

# Models with a run id.
OfRun = TypeVar("OfRun", Attribute, RunSummary)


class InvalidQuery(InvalidInput):
    """The query is invalid: `length` characters from `position` on."""

    def __init__(self, error: BadQuery) -> None:
        place = f"is not understood at character {error.position + 1}: {error}"
        super().__init__("query", place.rstrip("."))
        self.reason = str(error)
        self.position, self.length = error.position, error.length


class InvalidPattern(InvalidInput):
    """A search for names that is not a regular expression; `reason` is RE2's."""

    def __init__(self, error: BadPattern) -> None:
        super().__init__("q", f"is not a regular expression: {error}")
        self.reason = str(error)


@dataclass(frozen=True, slots=True)
class RunFilter:
    """Filters of a runs table; empty ones match every run."""

    text: str = ""  # in the name or in a tag
    state: str = ""
    tag: str = ""
    query: Tree | None = None
    made_by: str = ""  # a username
    pattern: str = ""  # a regular expression that the name matches

    def __post_init__(self) -> None:
        for name in ("text", "tag", "made_by", "pattern"):
            if not is_searchable(getattr(self, name)):
                raise InvalidInput(
                    name, "contains a character that is not allowed, or is too long"
                )
        try:
            matcher(self.pattern)
        except BadPattern as error:
            raise InvalidPattern(error) from error
        if self.state and self.state not in State.values:
            raise InvalidInput("state", f"must be one of {', '.join(State.values)}")

    @property
    def tree(self) -> Tree | None:
        """Return all filters as one query."""
        parts: list[Tree] = [] if self.query is None else [self.query]
        if self.tag:
            parts.append(Membership(TAGS_PATH, self.tag))
        if self.made_by:
            parts.append(Comparison(RunField("made_by"), "=", self.made_by))
        if self.state:
            parts.append(Comparison(RunField("state"), "=", self.state))
        if self.pattern:
            parts.append(Match(self.pattern))
        if self.text:
            in_tag = Likeness(AttributeField(TAGS_PATH), self.text)
            parts.append(Either((Likeness(RunField("name"), self.text), in_tag)))
        if len(parts) > 1:
            return Both(tuple(parts))
        return parts[0] if parts else None


def read_query(text: str) -> Tree | None:
    """Parse a query in the query language; None if it is empty."""
    if not text.strip():
        return None
    try:
        return parse(text, timezone.now())
    except BadQuery as error:
        raise InvalidQuery(error) from error


class Found:
    """The runs of a project that match a filter, without those in the trash."""

    def __init__(self, project_id: int, wanted: RunFilter) -> None:
        self.project_id = project_id
        self.tree = wanted.tree

    @cached_property
    def everyone(self) -> Found:
        """All runs of the project."""
        return self if self.tree is None else Found(self.project_id, RunFilter())

    @cached_property
    def count(self) -> int:
        if self.tree is None:
            return run_count(self.project_id)
        return self._counted_ids[0]

    @property
    def is_few(self) -> bool:
        return self._few is not None

    def among(self, run_ids: Collection[UUID]) -> set[UUID]:
        """Return the matching runs among a few shown runs."""
        runs = Run.objects.filter(id__in=each_of(run_ids))
        if self.tree is not None:
            runs = runs.filter(each_run_where(self.tree, self.project_id))
        return set(runs.values_list("id", flat=True))

    def among_summaries(self, run_ids: Collection[UUID]) -> set[UUID]:
        """Return the same for many runs, by computing the whole matching set."""
        ids = self._ids()
        [column] = ids.query.values_select
        return set(ids.filter(**{f"{column}__in": each_of(run_ids)}))

    def runs(self) -> QuerySet[Run]:
        """Return the runs."""
        if self._few is not None:
            return self._shown().filter(id__in=each_of(self._few))
        if self.tree is None:
            return self._shown()
        return self._shown().filter(runs_where(self.tree, self.project_id))

    def attributes(self, path: str | None = None) -> QuerySet[Attribute]:
        """Return the attributes of the runs, at one path or all."""
        rows = Attribute.objects.all()
        if path is not None:
            rows = rows.filter(path=path)
        if self._few is not None:
            # Without the project filter, because its index would read all runs.
            return rows.filter(run_id__in=each_of(self._few))
        return self._matching(rows.filter(project_id=self.project_id), path)

    def summaries(self) -> QuerySet[RunSummary]:
        """Return the summaries of the runs."""
        if self._few is not None:
            return RunSummary.objects.filter(run_id__in=each_of(self._few))
        return self._matching(RunSummary.objects.filter(project_id=self.project_id))

    @cached_property
    def packed_ids(self) -> bytes:
        """The ids of all matching runs; see tracker/queries/runs/packed.py."""
        if self.tree is not None:
            return self._counted_ids[1]
        return packed_bytes(self._shown().aggregate(ids=PackedIds("id"))["ids"])

    @cached_property
    def _few(self) -> list[UUID] | None:
        """The ids of the runs, or None if there are many."""
        if self.tree is None or self.count > FEW:
            return None
        return uuids_in(self.packed_ids)

    @cached_property
    def _counted_ids(self) -> tuple[int, bytes]:
        """The number of matching runs and their ids, cached because this is slow."""
        ids = self._ids()
        [column] = ids.query.values_select
        found = ids.aggregate(count=Count("*"), ids=PackedIds(column))
        return found["count"], packed_bytes(found["ids"])

    def _ids(self) -> QuerySet[Any, UUID]:
        """Return the runs' ids, through an attribute that all of them have if possible."""
        assert self.tree is not None
        path = leading_path(self.tree)
        if path is None and is_led_by_summary(self.tree):
            known = RunSummary.objects.filter(project_id=self.project_id)
            return self._matching(known).values_list("run_id", flat=True)
        if path is None:
            found = self._shown().filter(runs_where(self.tree, self.project_id))
            return found.values_list("id", flat=True)
        rows = Attribute.objects.filter(project_id=self.project_id, path=path)
        return self._matching(rows, path).values_list("run_id", flat=True)

    def _matching(
        self, rows: QuerySet[OfRun], path: str | None = None
    ) -> QuerySet[OfRun]:
        # Few runs are in the trash, so excluding them is cheaper than checking each run.
        trashed = Run.objects.filter(project=self.project_id, trashed_at__isnull=False)
        rows = rows.exclude(run_id__in=trashed.values("id"))
        if self.tree is None:
            return rows
        if rows.model is RunSummary:
            return rows.filter(summary_where(self.tree, self.project_id))
        return rows.filter(of_runs_where(self.tree, self.project_id, path))

    def _shown(self) -> QuerySet[Run]:
        return Run.objects.filter(project_id=self.project_id).not_in_trash()


def is_searchable(text: str) -> bool:
    """Return whether a text can be stored; PostgreSQL rejects others in comparisons."""
    return len(text) <= TEXT_MAX_LENGTH and is_storable(text)
