"""Comparisons in conditions: columns of attributes, and operators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.db.models import F, FloatField, Lookup, Q, Value
from django.db.models.expressions import Combinable
from django.db.models.functions import Cast, NullIf
from django.db.models.lookups import (
    Exact,
    GreaterThan,
    GreaterThanOrEqual,
    LessThan,
    LessThanOrEqual,
)

ORDERINGS: dict[str, type[Lookup[Any]]] = {
    "=": Exact,
    "<": LessThan,
    "<=": LessThanOrEqual,
    ">": GreaterThan,
    ">=": GreaterThanOrEqual,
}
SUMMARY_COLUMNS: dict[str, Callable[[], Combinable]] = {
    "last": lambda: F("number"),
    "min": lambda: F("minimum"),
    "max": lambda: F("maximum"),
    "mean": lambda: F("total") / NullIf(_as_float("finite_count"), Value(0.0)),
    "count": lambda: NullIf("count", Value(0)),
    "first_step": lambda: F("first_step"),
    "last_step": lambda: F("last_step"),
}

Column = Callable[[], Combinable]


def compared(column: Column, operator: str, other: Column) -> Q:
    """Return the comparison; false if either side is unknown."""
    if operator == "!=":
        # Two index ranges; unknown values do not count as different.
        return Q(LessThan(column(), other())) | Q(GreaterThan(column(), other()))
    return Q(ORDERINGS[operator](column(), other()))


def compared_with(column: Column, operator: str, value: object) -> Q:
    return compared(column, operator, lambda: Value(value))


def _as_float(name: str) -> Cast:
    return Cast(name, FloatField())
