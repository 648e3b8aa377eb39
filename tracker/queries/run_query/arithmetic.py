"""Arithmetic in conditions, and its limits (pure).

The limits prevent overflow and underflow in the database for all stored values: after
at most MAX_OPERATORS operations, numbers between SMALLEST and LARGEST stay far within the range
of floating-point numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from lark import Token

from tracker.queries.run_query.refusal import BadQuery
from tracker.queries.run_query.tree import (
    AttributeField,
    Calculation,
    Computed,
    Number,
    Term,
)

SIGNS = ("PLUS", "MINUS", "TIMES", "BY")
# Per condition. A product of seven numbers of 1e40 is 1e280; a difference of numbers of 1e-40
# is 0 or at least 1e-56.
MAX_OPERATORS = 6
# Sizes of operands. Smaller values count as 0, larger ones as unknown.
SMALLEST, LARGEST = 1e-40, 1e40


@dataclass(frozen=True, slots=True)
class Named:
    """A word or a quoted text: a path, a field of the run, or a value."""

    token: Token


@dataclass(frozen=True, slots=True)
class Summarized:
    name: Token
    path: Token


@dataclass(frozen=True, slots=True)
class Sum:
    left: Part
    sign: Token
    right: Part


# A single token is a constant.
Part: TypeAlias = Named | Summarized | Sum | Token


def fields_of(condition: Computed) -> Iterator[AttributeField]:
    """Yield the attributes in a condition, each as often as it occurs."""
    for side in (condition.left, condition.right):
        yield from _fields(side)


def operator_count(condition: Computed) -> int:
    return sum(map(_operators, (condition.left, condition.right)))


def _fields(term: Term) -> Iterator[AttributeField]:
    match term:
        case AttributeField():
            yield term
        case Calculation(left=left, right=right):
            yield from _fields(left)
            yield from _fields(right)


def _operators(term: Term) -> int:
    if not isinstance(term, Calculation):
        return 0
    return 1 + _operators(term.left) + _operators(term.right)


def first_token(part: Part) -> Token:
    """Return the token at which a part begins."""
    match part:
        case Token():
            return part
        case Named(token=token):
            return token
        case Summarized(name=name):
            return name
        case Sum(left=left):
            return first_token(left)


def number_of(token: Token) -> Number:
    """Read a constant in an arithmetic expression."""
    value = float(token) if token.type == "NUMBER" else None
    if value is None or not (value == 0 or SMALLEST <= abs(value) <= LARGEST):
        sizes = f"{SMALLEST:g} to {LARGEST:g}".replace("+", "")
        rule = "Only attributes and numbers can be used in arithmetic; a number is 0, or from"
        message = f"{rule} {sizes} in size."
        raise BadQuery(message, token.start_pos or 0, len(token))
    return Number(value)
