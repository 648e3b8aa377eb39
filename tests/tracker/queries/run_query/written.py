"""Random queries, as trees and as text."""

from __future__ import annotations

from hypothesis import strategies as st

from tracker.queries.run_query.arithmetic import (
    LARGEST,
    MAX_OPERATORS,
    SMALLEST,
    fields_of,
    operator_count,
)
from tracker.queries.run_query.meaning import RUN_FIELDS, STATES, UNITS
from tracker.queries.run_query.tree import (
    SUMMARIES,
    AttributeField,
    Both,
    Calculation,
    Comparison,
    Computed,
    Either,
    Existence,
    IsNan,
    Known,
    Likeness,
    Membership,
    Negation,
    Number,
    RunField,
)

OPERATORS = ("<", "<=", ">", ">=", "=", "!=")
texts = st.text(
    st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=20
)
paths = texts.filter(lambda text: text.strip("/") == text != "")
fields = st.builds(AttributeField, paths, st.sampled_from(SUMMARIES))
plain_fields = st.builds(AttributeField, paths)
numbers = st.floats(allow_nan=False)
run_fields = st.sampled_from(RUN_FIELDS).map(RunField)
run_numbers = st.sampled_from(sorted(UNITS)).map(RunField)
TEXTS = ("name", "finding", "made_by", "parent", "forked_from")
run_texts = st.sampled_from(TEXTS).map(RunField)


def computed(fields):
    """Return conditions with arithmetic on some of these attributes."""
    sizes = st.floats(SMALLEST, LARGEST) | st.integers(0, 9).map(float)
    numbers = st.builds(lambda size, sign: size * sign, sizes, st.sampled_from((1, -1)))
    terms = st.recursive(
        fields | numbers.map(Number),
        lambda parts: st.builds(Calculation, parts, st.sampled_from("+-*/"), parts),
        max_leaves=MAX_OPERATORS,
    )
    every = st.builds(Computed, terms, st.sampled_from(OPERATORS), terms)
    return every.filter(is_computed)


def is_computed(condition):
    """Return whether it is arithmetic within limits, not a plain comparison."""
    sides = (condition.left, condition.right)
    if not any(fields_of(condition)) or operator_count(condition) > MAX_OPERATORS:
        return False
    return not any(isinstance(side, Number) for side in sides) or any(
        isinstance(side, Calculation) for side in sides
    )


conditions = st.one_of(
    computed(fields),
    st.builds(Comparison, fields, st.sampled_from(OPERATORS), numbers),
    st.builds(
        Comparison, plain_fields, st.sampled_from(("=", "!=")), texts | st.booleans()
    ),
    st.builds(
        Comparison, st.just(RunField("state")), st.just("="), st.sampled_from(STATES)
    ),
    st.builds(Comparison, run_numbers, st.sampled_from(OPERATORS), numbers),
    st.builds(Comparison, run_texts, st.sampled_from(("=", "!=")), texts),
    st.builds(Likeness, plain_fields | run_texts, texts),
    st.builds(Membership, paths, texts),
    st.builds(IsNan, paths),
    st.builds(Existence, paths),
    st.builds(Known, run_fields),
)


def larger(trees):
    parts = st.lists(trees, min_size=2, max_size=3).map(tuple)
    return st.one_of(
        st.builds(Negation, trees), st.builds(Both, parts), st.builds(Either, parts)
    )


queries = st.recursive(conditions, larger, max_leaves=12)


def written(tree) -> str:  # noqa: PLR0911 - one for each kind
    """Return the text of a tree, with each part in parentheses."""
    match tree:
        case Both(parts=parts):
            return " and ".join(f"({written(part)})" for part in parts)
        case Either(parts=parts):
            return " OR ".join(f"({written(part)})" for part in parts)
        case Negation(part=part):
            return f"not ({written(part)})"
        case Comparison(operand=operand, operator=operator, value=value):
            return f"{written_operand(operand)}{operator} {written_value(value)}"
        case Computed(left=left, operator=operator, right=right):
            return f"{written_term(left)} {operator} {written_side(right)}"
        case Likeness(operand=operand, text=text):
            return f"{written_operand(operand)} ~ {quoted(text)}"
        case Membership(path=path, item=item):
            return f"{quoted(path)} contains {quoted(item)}"
        case IsNan(path=path):
            return f"{quoted(path)} is nan"
        case Existence(path=path):
            return f"exists {quoted(path)}"
        case Known(operand=operand):
            return f"exists {operand.name}"
    raise TypeError(tree)


def written_side(term) -> str:
    """Return the text of the right side, where a path alone would be a value."""
    if isinstance(term, AttributeField):
        return f"{term.summary}({quoted(term.path)})"
    return written_term(term)


def written_term(term) -> str:
    match term:
        case Calculation(left=left, sign=sign, right=right):
            return f"({written_term(left)} {sign} {written_term(right)})"
        case Number(value=value):
            return repr(value)
    return written_operand(term)


def written_operand(operand) -> str:
    if isinstance(operand, RunField):
        return operand.name
    if operand.summary == "last":
        return quoted(operand.path)
    return f"{operand.summary}({quoted(operand.path)})"


def written_value(value) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return repr(value) if isinstance(value, float) else quoted(value)


def quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
