"""What a query asks for, as values (pure)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeAlias

# "last" is what a path alone means: a value, or the last value of a series.
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
    """What + - * or / makes of two terms, as floating-point numbers."""

    left: Term
    sign: str
    right: Term


@dataclass(frozen=True, slots=True)
class Computed:
    """Compares what is computed from attributes and numbers.

    False where any of the attributes is no number, or what is divided by is 0.
    """

    left: Term
    operator: str
    right: Term


@dataclass(frozen=True, slots=True)
class Likeness:
    """The text holds another, whatever the case of its letters."""

    operand: Operand
    text: str


@dataclass(frozen=True, slots=True)
class Membership:
    """The set of strings under a path holds one."""

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
    """What every run could have, this run has."""

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
    Comparison | Computed | Likeness | Membership | IsNan | Existence | Known
)
Tree: TypeAlias = Condition | Negation | Both | Either
