"""Conditions with arithmetic on several attributes of a run, in the database.

The values of a run at these paths are combined into one row, with one index range per path. All
computations are on floating-point numbers within limits (`run_query.arithmetic`), so no stored
value can make a database raise an error.
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
from tracker.queries.runs.filter.comparisons import SUMMARY_COLUMNS, compared

Names = dict[AttributeField, str]


# Any: one row per run with the combined values.
def computed_rows(condition: Computed, project_id: int) -> QuerySet[Any]:
    """Return one row for each run that satisfies the condition."""
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
    """Return an attribute's value in rows with its path, and NULL in other rows."""
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
        # PostgreSQL raises an underflow error if a tiny sum is divided.
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
    """Return a number as a float, because PostgreSQL would read it as numeric."""
    return Cast(Value(value), FloatField())
