"""Which runs of a project are shown, and how many there are."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar
from uuid import UUID

from django.db.models import Count, QuerySet
from django.utils import timezone

from tracker.errors import InvalidInput
from tracker.models import Attribute, Gathered, Run, State
from tracker.queries.run.namespaces import TAGS_PATH
from tracker.queries.run_query.parser import parse
from tracker.queries.run_query.refusal import BadQuery
from tracker.queries.run_query.tree import (
    AttributeField,
    Both,
    Comparison,
    Either,
    Likeness,
    Membership,
    RunField,
    Tree,
)
from tracker.queries.runs.columns import each_of
from tracker.queries.runs.conditions import (
    each_run_where,
    gathered_where,
    is_led_by_gathered,
    leading_path,
    of_runs_where,
    runs_where,
)
from tracker.queries.runs.counts import run_count
from tracker.queries.runs.packed import PackedIds, packed_bytes, uuids_in
from tracker.texts import is_storable

TEXT_MAX_LENGTH = 1_024
# So few runs are named one by one; then any order of them costs little.
FEW = 1_000

# Rows that say of which run they are.
OfRun = TypeVar("OfRun", Attribute, Gathered)


class InvalidQuery(InvalidInput):
    """A query that is not understood; `length` characters from `position` on."""

    def __init__(self, error: BadQuery) -> None:
        place = f"is not understood at character {error.position + 1}: {error}"
        super().__init__("query", place.rstrip("."))
        self.reason = str(error)
        self.position, self.length = error.position, error.length


@dataclass(frozen=True, slots=True)
class RunFilter:
    """Empty parts let every run through."""

    text: str = ""  # in the name or in a tag
    state: str = ""
    tag: str = ""
    query: Tree | None = None
    made_by: str = ""  # a username

    def __post_init__(self) -> None:
        for name in ("text", "tag", "made_by"):
            if not is_searchable(getattr(self, name)):
                raise InvalidInput(name, "holds what no name or tag can hold")
        if self.state and self.state not in State.values:
            raise InvalidInput("state", f"must be one of {', '.join(State.values)}")

    @property
    def tree(self) -> Tree | None:
        """Everything that is asked for, as one query."""
        parts: list[Tree] = [] if self.query is None else [self.query]
        if self.tag:
            parts.append(Membership(TAGS_PATH, self.tag))
        if self.made_by:
            parts.append(Comparison(RunField("made_by"), "=", self.made_by))
        if self.state:
            parts.append(Comparison(RunField("state"), "=", self.state))
        if self.text:
            in_tag = Likeness(AttributeField(TAGS_PATH), self.text)
            parts.append(Either((Likeness(RunField("name"), self.text), in_tag)))
        if len(parts) > 1:
            return Both(tuple(parts))
        return parts[0] if parts else None


def read_query(text: str) -> Tree | None:
    """Return what a query in our language asks for; None if it is empty."""
    if not text.strip():
        return None
    try:
        return parse(text, timezone.now())
    except BadQuery as error:
        raise InvalidQuery(error) from error


class Found:
    """The runs of a project that a filter lets through; none that is in the trash."""

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
        """Return those of a few shown runs that the filter lets through."""
        runs = Run.objects.filter(id__in=each_of(run_ids))
        if self.tree is not None:
            runs = runs.filter(each_run_where(self.tree, self.project_id))
        return set(runs.values_list("id", flat=True))

    def gathered_among(self, run_ids: Collection[UUID]) -> set[UUID]:
        """Return the same for many, by way of all runs that the filter lets through."""
        ids = self._ids()
        [column] = ids.query.values_select
        return set(ids.filter(**{f"{column}__in": each_of(run_ids)}))

    def runs(self) -> QuerySet[Run]:
        """Return the runs themselves."""
        if self._few is not None:
            return self._shown().filter(id__in=each_of(self._few))
        if self.tree is None:
            return self._shown()
        return self._shown().filter(runs_where(self.tree, self.project_id))

    def attributes(self, path: str | None = None) -> QuerySet[Attribute]:
        """Return what the runs hold, at this path or at all."""
        rows = Attribute.objects.all()
        if path is not None:
            rows = rows.filter(path=path)
        if self._few is not None:
            # Without their project: its index would lead through all its runs.
            return rows.filter(run_id__in=each_of(self._few))
        return self._matching(rows.filter(project_id=self.project_id), path)

    def gathered(self) -> QuerySet[Gathered]:
        """Return what is gathered of the runs."""
        if self._few is not None:
            return Gathered.objects.filter(run_id__in=each_of(self._few))
        return self._matching(Gathered.objects.filter(project_id=self.project_id))

    @cached_property
    def packed_ids(self) -> bytes:
        """The ids of all of them; see tracker/queries/runs/packed.py."""
        if self.tree is not None:
            return self._counted_ids[1]
        return packed_bytes(self._shown().aggregate(ids=PackedIds("id"))["ids"])

    @cached_property
    def _few(self) -> list[UUID] | None:
        """The ids of the runs, unless they are many."""
        if self.tree is None or self.count > FEW:
            return None
        return uuids_in(self.packed_ids)

    @cached_property
    def _counted_ids(self) -> tuple[int, bytes]:
        """How many runs match, and their ids: finding them is what takes long."""
        ids = self._ids()
        [column] = ids.query.values_select
        found = ids.aggregate(count=Count("*"), ids=PackedIds(column))
        return found["count"], packed_bytes(found["ids"])

    def _ids(self) -> QuerySet[Any, UUID]:
        """Return the runs' ids, by way of an attribute that all of them have."""
        assert self.tree is not None
        path = leading_path(self.tree)
        if path is None and is_led_by_gathered(self.tree):
            known = Gathered.objects.filter(project_id=self.project_id)
            return self._matching(known).values_list("run_id", flat=True)
        if path is None:
            found = self._shown().filter(runs_where(self.tree, self.project_id))
            return found.values_list("id", flat=True)
        rows = Attribute.objects.filter(project_id=self.project_id, path=path)
        return self._matching(rows, path).values_list("run_id", flat=True)

    def _matching(
        self, rows: QuerySet[OfRun], path: str | None = None
    ) -> QuerySet[OfRun]:
        # Few runs are in the trash: leaving them out costs less than looking at each.
        trashed = Run.objects.filter(project=self.project_id, trashed_at__isnull=False)
        rows = rows.exclude(run_id__in=trashed.values("id"))
        if self.tree is None:
            return rows
        if rows.model is Gathered:
            return rows.filter(gathered_where(self.tree, self.project_id))
        return rows.filter(of_runs_where(self.tree, self.project_id, path))

    def _shown(self) -> QuerySet[Run]:
        return Run.objects.filter(project_id=self.project_id).not_in_trash()


def is_searchable(text: str) -> bool:
    """Refuse what no stored text holds and PostgreSQL would not even compare."""
    return len(text) <= TEXT_MAX_LENGTH and is_storable(text)
