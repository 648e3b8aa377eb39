"""The tree of a query, as values (pure)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeAlias
from uuid import UUID

# "last" is the meaning of a path alone: a value, or the last value of a series.
SUMMARIES = ("last", "min", "max", "mean", "count", "first_step", "last_step")
Value: TypeAlias = float | bool | str | datetime | timedelta


@dataclass(frozen=True, slots=True)
class RunField:
    name: str


@dataclass(frozen=True, slots=True)
class AttributeField:
    path: str
    summary: str = "last"


Operand: TypeAlias = RunField | AttributeField


@dataclass(frozen=True, slots=True)
class Comparison:
    operand: Operand
    operator: str
    value: Value


@dataclass(frozen=True, slots=True)
class Number:
    value: float


@dataclass(frozen=True, slots=True)
class Calculation:
    """The result of + - * or / on two terms, as floating-point numbers."""

    left: Term
    sign: str
    right: Term


@dataclass(frozen=True, slots=True)
class Computed:
    """Compares expressions of attributes and numbers.

    False if any of the attributes is not a number, or a divisor is 0.
    """

    left: Term
    operator: str
    right: Term


@dataclass(frozen=True, slots=True)
class Likeness:
    """The text contains another, ignoring case."""

    operand: Operand
    text: str


@dataclass(frozen=True, slots=True)
class Match:
    """The run's name matches a regular expression, ignoring case."""

    pattern: str
    operand: RunField = RunField("name")


@dataclass(frozen=True, slots=True)
class ChildOf:
    """The run is a child of another; no text of the query language means this."""

    parent: UUID
    operand: RunField = RunField("parent")


@dataclass(frozen=True, slots=True)
class Membership:
    """The string set at a path contains an item."""

    path: str
    item: str


@dataclass(frozen=True, slots=True)
class IsNan:
    path: str


@dataclass(frozen=True, slots=True)
class Existence:
    path: str


@dataclass(frozen=True, slots=True)
class Known:
    """The run has a value for a field that every run can have."""

    operand: RunField


@dataclass(frozen=True, slots=True)
class Negation:
    part: Tree


@dataclass(frozen=True, slots=True)
class Both:
    parts: tuple[Tree, ...]


@dataclass(frozen=True, slots=True)
class Either:
    parts: tuple[Tree, ...]


Term: TypeAlias = AttributeField | Number | Calculation
Condition: TypeAlias = (
    Comparison
    | Computed
    | Likeness
    | Match
    | ChildOf
    | Membership
    | IsNan
    | Existence
    | Known
)
Tree: TypeAlias = Condition | Negation | Both | Either
