"""Converts a query tree to a condition on rows of the database.

User input is passed only as parameters; column names come from the tables below. Conditions on
attributes become sets of run ids from one index each, which databases combine quickly for any
number of runs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from django.db import connection
from django.db.models import (
    Case,
    F,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Value,
    When,
)
from django.db.models.expressions import Combinable
from django.db.models.lookups import IsNull
from django.utils import timezone

from tracker.models import Attribute, Kind, Run, RunSummary
from tracker.models.attribute import SHORT_CHARACTERS
from tracker.queries.diagnoses.time_breakdowns import JOULES_OF_A_KILOWATT_HOUR
from tracker.queries.run.namespaces import TAGS_PATH
from tracker.queries.run_query.arithmetic import fields_of
from tracker.queries.run_query.meaning import EQUALITY
from tracker.queries.run_query.tree import (
    AttributeField,
    Both,
    ChildOf,
    Comparison,
    Computed,
    Condition,
    Either,
    Existence,
    IsNan,
    Known,
    Likeness,
    Match,
    Membership,
    Negation,
    RunField,
    Tree,
)
from tracker.queries.runs import summaries
from tracker.queries.runs.columns import (
    AnyItem,
    any_item_holds,
    duration_seconds,
    holds,
    wall_seconds,
)
from tracker.queries.runs.filter.arithmetic import computed_rows
from tracker.queries.runs.filter.comparisons import SUMMARY_COLUMNS, compared_with
from tracker.queries.runs.filter.name_patterns import name_matches

# As in the rows of the table: a source in another project or in the trash is not named.
FORK_SHOWN = Q(fork__source__trashed_at=None, fork__source__project=F("project"))
RUN_COLUMNS: dict[str, Callable[[], Combinable]] = {
    "name": lambda: F("name"),
    "state": lambda: F("state"),
    "made_by": lambda: F("made_by__username"),
    # The children of a run in the trash have no parent.
    "parent": lambda: Case(When(parent__trashed_at=None, then=F("parent__name"))),
    "forked_from": lambda: Case(When(FORK_SHOWN, then=F("fork__source__name"))),
    "created": lambda: F("created_at"),
    "started": lambda: F("started_at"),
    "ended": lambda: F("ended_at"),
    "duration": lambda: duration_seconds(timezone.now()),
    "wall_time": lambda: wall_seconds(timezone.now()),
}

# The same conditions as in the indexes; the text of an integer is excluded.
SHORT_TEXT = Q(number__isnull=True, text__length__lte=SHORT_CHARACTERS)
LONG_TEXT = Q(number__isnull=True, text__length__gt=SHORT_CHARACTERS)


def runs_where(tree: Tree, project_id: int) -> Q:
    """Return the condition on rows of runs."""
    return Conditions(project_id, of_run="id").of(tree)


def each_run_where(tree: Tree, project_id: int) -> Q:
    """Return the condition on rows of a few runs, with a lookup per run."""
    return Conditions(project_id, of_run="id", are_few=True).of(tree)


def of_runs_where(tree: Tree, project_id: int, path: str | None = None) -> Q:
    """Return the condition on attributes of runs, with a common path if it is given."""
    return Conditions(project_id, of_run="run_id", path=path).of(tree)


def summary_where(tree: Tree, project_id: int) -> Q:
    """Return the condition on run summaries."""
    return Conditions(project_id, of_run="run_id", is_summary=True).of(tree)


@dataclass(frozen=True, slots=True)
class Conditions:
    """Conditions on rows whose column `of_run` has the id of a run."""

    project_id: int
    of_run: str
    path: str | None = None
    # Whether the rows are run summaries.
    is_summary: bool = False
    are_few: bool = False

    def of(self, tree: Tree) -> Q:
        match tree:
            case Both(parts=parts):
                return Q(*(self.of(part) for part in parts))
            case Either() | Negation() if self.of_run == "run_id" and is_partitioned():
                # PostgreSQL would build each nested set once per partition.
                return self._of_run(runs_where(tree, self.project_id))
            case Either(parts=parts):
                return Q(*(self.of(part) for part in parts), _connector=Q.OR)
            case Negation(part=part):
                # Negate sets of runs, not the row, because NULL in a row is not false.
                return ~replace(self, path=None, is_summary=False).of(part)
        return self._of_one(tree)

    def _of_one(self, condition: Condition) -> Q:
        known = summary_condition(condition)
        if known is not None:
            if self.is_summary:
                return known
            rows = RunSummary.objects.filter(known, project_id=self.project_id)
            return self._among(rows, "run_id")
        if isinstance(condition, Computed):
            return self._among(computed_rows(condition, self.project_id), "run_id")
        if is_of_run(condition):
            return self._of_run(_run_condition(condition, self.project_id))
        path, wanted = _attribute_condition(condition)
        if path == self.path and len(wanted) == 1:
            return wanted[0]
        sets = rows_where(condition, self.project_id)
        return Q(*(self._among(rows, "run_id") for rows in sets), _connector=Q.OR)

    def _of_run(self, condition: Q) -> Q:
        if self.of_run == "id":
            return condition
        return self._among(Run.objects.filter(condition, project=self.project_id), "id")

    def _among(self, rows: QuerySet[Any], column: str) -> Q:
        if self.are_few:
            one = rows.filter(**{column: OuterRef(self.of_run)}).values(column)[:1]
            # PostgreSQL might convert EXISTS to a set again.
            return Q(IsNull(Subquery(one), False))
        return Q((f"{self.of_run}__in", rows.values(column)))


def is_partitioned() -> bool:
    return connection.vendor == "postgresql"


def leading_path(tree: Tree) -> str | None:
    """Return the path of an attribute that every matching run has.

    None if the query requires no such attribute, or needs several index ranges for it.
    """
    for part in _parts(tree):
        if isinstance(part, Computed) or summary_condition(part) is not None:
            continue
        if not is_of_run(part):
            path, wanted = _attribute_condition(part)
            if len(wanted) == 1:
                return path
    return None


def is_led_by_summary(tree: Tree) -> bool:
    """Return whether the query requires something of the run summary."""
    return any(summary_condition(part) is not None for part in _parts(tree))


def _parts(tree: Tree) -> list[Condition]:
    """Return conditions that all matching runs satisfy."""
    parts = tree.parts if isinstance(tree, Both) else (tree,)
    return [part for part in parts if isinstance(part, Condition)]


def paths_in(tree: Tree) -> set[str]:
    """Return the paths of all attributes in the query."""
    match tree:
        case Both(parts=parts) | Either(parts=parts):
            return set().union(*map(paths_in, parts))
        case Negation(part=part):
            return paths_in(part)
        case Computed():
            return {field.path for field in fields_of(tree)}
    return set() if is_of_run(tree) else {_attribute_condition(tree)[0]}


def is_of_run(condition: Condition) -> bool:
    operand = getattr(condition, "operand", None)
    return isinstance(operand, RunField)


# Any: rows of attributes, and of run summaries.
def rows_where(condition: Condition, project_id: int) -> list[QuerySet[Any]]:
    """Return sets of rows; a run in any of them satisfies the condition.

    Several sets are returned if each has its own index. Each set has at most one row per run.
    """
    path, parts = _attribute_condition(condition)
    rows = Attribute.objects.filter(project_id=project_id, path=path)
    found: list[QuerySet[Any]] = [rows.filter(part) for part in parts]
    match condition:
        case Likeness(operand=AttributeField(path=name), text=text) if (
            name == TAGS_PATH
        ):
            tagged = RunSummary.objects.filter(
                project_id=project_id, tags__isnull=False
            )
            found[-1] = tagged.filter(any_item_holds("tags", text))
    return found


def summary_condition(condition: Condition) -> Q | None:
    """Return the condition on the run summary, if it is one."""
    match condition:
        case Membership(path=path, item=item) if path == TAGS_PATH:
            return Q(AnyItem(F("tags"), Value(item)), tags__isnull=False)
        case (
            Comparison(operand=RunField(name=name))
            | Likeness(operand=RunField(name=name))
            | Known(operand=RunField(name=name))
        ) if name in summaries.FIELDS:
            return _condition_on_column(condition, name)
    return None


def _condition_on_column(condition: Condition, column: str) -> Q:
    match condition:
        case Likeness(text=text):
            return holds(column, text)
        case Comparison(operator=operator, value=value):
            if isinstance(value, float) and column == "energy":
                value = value * JOULES_OF_A_KILOWATT_HOUR
            return compared_with(lambda: F(column), operator, value)
    return Q((f"{column}__isnull", False))


def _run_condition(condition: Condition, project_id: int) -> Q:
    match condition:
        case Match(pattern=pattern):
            return name_matches(pattern, project_id)
        case ChildOf(parent=parent):
            return Q(parent=parent, parent__trashed_at=None)
        case Likeness(operand=RunField(name=name), text=text):
            return _run_text_holds(name, text)
        case Known(operand=RunField(name=name)):
            return Q(IsNull(RUN_COLUMNS[name](), False))
        case Comparison(operand=RunField(name=name), operator=operator, value=value):
            seconds = value.total_seconds() if isinstance(value, timedelta) else value
            compared = compared_with(RUN_COLUMNS[name], operator, seconds)
            # False if the value is unknown, so that the negation is true.
            return compared & Q(IsNull(RUN_COLUMNS[name](), False))
    raise TypeError(condition)


def _run_text_holds(name: str, text: str) -> Q:
    """Return the condition on a text; false if it is unknown, so its negation is true."""
    match name:
        case "made_by":
            return holds("made_by__username", text) & Q(made_by__isnull=False)
        case "parent":
            shown = Q(parent__isnull=False, parent__trashed_at=None)
            return holds("parent__name", text) & shown
        case "forked_from":
            return holds("fork__source__name", text) & FORK_SHOWN
    return holds("name", text)


def _attribute_condition(condition: Condition) -> tuple[str, list[Q]]:
    match condition:
        case Existence(path=path):
            return path, [Q()]
        case IsNan(path=path):
            # Matches the index, which contains rows without a number.
            return path, [Q(number__isnull=True, is_nan=True)]
        case Membership(path=path, item=item):
            return path, [Q(AnyItem(F("items"), Value(item)), items__isnull=False)]
        case Likeness(operand=AttributeField(path=path), text=text):
            return path, _like(text)
        case Comparison(
            operand=AttributeField(path=path, summary=summary),
            operator=operator,
            value=value,
        ):
            return path, _compared_attribute(summary, operator, value)
    raise TypeError(condition)


def _compared_attribute(summary: str, operator: str, value: object) -> list[Q]:
    match value:
        case str():
            return _compared_text(operator, value)
        case datetime():
            text = value.isoformat(timespec="microseconds")
            compared = compared_with(lambda: F("text"), operator, text)
            return [SHORT_TEXT & compared & Q(kind=Kind.DATETIME)]
    assert isinstance(value, float | bool)
    compared = compared_with(SUMMARY_COLUMNS[summary], operator, float(value))
    if value not in (0, 1) or operator not in EQUALITY or summary != "last":
        return [compared]
    # A boolean is stored as 0 or 1, but does not equal these numbers.
    is_alike = Q(kind=Kind.BOOLEAN)
    if not isinstance(value, bool):
        is_alike = ~is_alike
    if operator == "=":
        return [compared & is_alike]
    equal = compared_with(SUMMARY_COLUMNS[summary], "=", float(value))
    return [compared, equal & ~is_alike]


def _compared_text(operator: str, text: str) -> list[Q]:
    if operator == "!=":
        return [part & ~Q(text=text) for part in (SHORT_TEXT, LONG_TEXT)]
    part = SHORT_TEXT if len(text) <= SHORT_CHARACTERS else LONG_TEXT
    return [part & Q(text=text)]


def _like(text: str) -> list[Q]:
    return [
        SHORT_TEXT & holds("text", text),
        LONG_TEXT & holds("text", text),
        Q(items__isnull=False) & any_item_holds("items", text),
    ]
