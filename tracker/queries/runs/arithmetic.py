"""Conditions that compute from several attributes of a run, in the database.

What a run holds at their paths is brought together in one row for each run, from one
range of an index for each path. Everything is computed as floating-point numbers within
bounds (`run_query.arithmetic`): whatever runs hold, no database refuses to.
"""

from __future__ import annotations

from typing import Any

from django.db.models import Case, F, FloatField, Max, Q, QuerySet, Value, When
from django.db.models.expressions import Combinable
from django.db.models.functions import Abs, Cast, NullIf
from django.db.models.lookups import GreaterThanOrEqual, LessThanOrEqual

from tracker.models import Attribute
from tracker.queries.run_query.arithmetic import (
    LARGEST,
    SMALLEST,
    fields_of,
    operator_count,
)
from tracker.queries.run_query.tree import (
    AttributeField,
    Calculation,
    Computed,
    Number,
    Term,
)
from tracker.queries.runs.comparisons import SUMMARY_COLUMNS, compared

Names = dict[AttributeField, str]


# Any: a row for each run, with what was brought together.
def computed_rows(condition: Computed, project_id: int) -> QuerySet[Any]:
    """Return a row of each run of which the condition is true."""
    is_bounded = operator_count(condition) > 0
    fields = dict.fromkeys(fields_of(condition))
    names = {field: f"value_{number}" for number, field in enumerate(fields)}
    values = {name: Max(_value(field, is_bounded)) for field, name in names.items()}
    rows = Attribute.objects.filter(
        project_id=project_id, path__in={field.path for field in fields}
    )
    found: QuerySet[Any] = rows.order_by().values("run_id").annotate(**values)
    return found.filter(
        compared(
            lambda: _computed(condition.left, names),
            condition.operator,
            lambda: _computed(condition.right, names),
        )
    )


def _value(field: AttributeField, is_bounded: bool) -> Case:
    """Return what an attribute's row says; of rows at other paths, nothing."""
    of_path = Q(path=field.path)
    if not is_bounded:
        return Case(When(of_path, then=_column(field)), output_field=FloatField())
    size = Abs(_column(field))
    return Case(
        When(
            of_path & Q(GreaterThanOrEqual(size, _float(SMALLEST))),
            then=Case(
                When(LessThanOrEqual(size, _float(LARGEST)), then=_column(field))
            ),
        ),
        When(of_path & Q(LessThanOrEqual(size, _float(SMALLEST))), then=_float(0.0)),
        output_field=FloatField(),
    )


def _column(field: AttributeField) -> Combinable:
    if field.summary == "mean":
        # Of a sum that is next to nothing, PostgreSQL would refuse to divide it.
        total = Case(
            When(
                GreaterThanOrEqual(Abs(F("total")), _float(SMALLEST)), then=F("total")
            ),
            default=_float(0.0),
        )
        return total / NullIf(Cast("finite_count", FloatField()), _float(0.0))
    return Cast(SUMMARY_COLUMNS[field.summary](), FloatField())


def _computed(term: Term, names: Names) -> Combinable:
    match term:
        case AttributeField():
            return F(names[term])
        case Number(value=value):
            return _float(value)
        case Calculation(left=left, sign=sign, right=right):
            return _calculated(_computed(left, names), sign, _computed(right, names))


def _calculated(left: Combinable, sign: str, right: Combinable) -> Combinable:
    match sign:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
    return left / NullIf(right, _float(0.0))


def _float(value: float) -> Cast:
    """Return a number that PostgreSQL does not take for one of its decimals."""
    return Cast(Value(value), FloatField())
