"""The meaning of the words of a query, and which operators they support (pure)."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from lark import Token

from tracker.queries.run_query.arithmetic import (
    MAX_OPERATORS,
    Named,
    Part,
    Sum,
    Summarized,
    fields_of,
    first_token,
    number_of,
    operator_count,
)
from tracker.queries.run_query.refusal import BadQuery
from tracker.queries.run_query.tree import (
    SUMMARIES,
    AttributeField,
    Calculation,
    Comparison,
    Computed,
    Existence,
    Known,
    Likeness,
    Membership,
    Operand,
    RunField,
    Term,
    Value,
)

STATES = ("running", "finished", "failed", "crashed", "preempted")
TEXTS, MOMENTS, SPANS = (
    ("name", "state", "finding", "made_by", "parent", "forked_from"),
    ("created", "started", "ended"),
    ("duration", "wall_time"),
)
# The units of the columns in a runs table.
UNITS = {
    "gpu": "percent",
    "cpu": "percent",
    "gpu_idle": "percent",
    "gpu_hours": "hours",
    "energy": "kilowatt-hours",
}
RUN_FIELDS = (*TEXTS, *MOMENTS, *SPANS, *UNITS)
EQUALITY = ("=", "!=")
# The equivalent operator with swapped sides.
TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "!=": "!="}
# Words that are values; a path with such a name must be quoted.
CONSTANTS = ("true", "false", "inf")
SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
LONGEST_PATH = 1_024
NAN_IS_UNEQUAL = "Nothing equals NaN; use: is nan."
# An upper bound for durations and run ages, which databases can handle.
LONGEST_SPAN = timedelta(days=36_525)
EARLIEST, LATEST = datetime(1900, 1, 1, tzinfo=UTC), datetime(9999, 1, 1, tzinfo=UTC)


def refusal(token: Token, message: str) -> BadQuery:
    return BadQuery(message, token.start_pos or 0, len(token))


def read_text(token: Token) -> str:
    """Return the content of a quoted text, or a bare word."""
    if token.type != "STRING":
        return str(token)
    return re.sub(r"\\(.)", r"\1", token[1:-1])


def read_path(token: Token) -> str:
    path = read_text(token).strip("/")
    if not path or len(path) > LONGEST_PATH:
        raise refusal(token, f"A path has 1 to {LONGEST_PATH:,} characters.")
    return path


def read_operand(part: Named | Summarized) -> Operand:
    """Read a bare word as a field of the run if it is one; a quoted one never is."""
    if isinstance(part, Summarized):
        return read_summary(part.name, part.path)
    token = part.token
    if is_field(token):
        return RunField(str(token))
    return AttributeField(read_path(token))


def is_field(token: Token) -> bool:
    return token.type == "WORD" and token in RUN_FIELDS


def existence(token: Token) -> Existence | Known:
    if is_field(token):
        return Known(RunField(str(token)))
    return Existence(read_path(token))


def membership(token: Token, item: Token) -> Membership:
    if is_field(token):
        raise refusal(token, f"A run's {token} is not a set of texts{_unless(token)}.")
    return Membership(read_path(token), read_text(item))


def read_summary(name: Token, path: Token) -> Operand:
    if name not in SUMMARIES:
        raise refusal(name, f"A summary is one of {', '.join(SUMMARIES)}.")
    return AttributeField(read_path(path), str(name))


def read_value(token: Token) -> Value:
    match token.type:
        case "NUMBER" | "INFINITY":
            return float(token)
        case "DURATION":
            return _span(token)
        case "DATE":
            return _moment(token, token)
        case "STRING":
            return read_text(token)
    return {"true": True, "false": False, "inf": float("inf")}.get(token, str(token))


def comparison(
    left: Part, operator: Token, right: Part, now: datetime
) -> Comparison | Computed:
    """Return the comparison, or raise BadQuery.

    A word or a text on the right is a value if it can be one.
    """
    if isinstance(left, Token) and isinstance(right, Named | Summarized):
        turned = Token.new_borrow_pos(operator.type, TURNED[operator], operator)
        return _condition(read_operand(right), turned, left, now)
    if isinstance(left, Named | Summarized):
        value = _as_value(left, operator, right)
        if value is not None:
            return _condition(read_operand(left), operator, value, now)
    return _computed(left, operator, right)


def _as_value(left: Part, operator: Token, right: Part) -> Token | None:
    """Return the right side if it is a value and not an expression."""
    if isinstance(right, Token):
        return right
    if not isinstance(right, Named):
        return None
    token = right.token
    is_path = token.type == "WORD" and token not in CONSTANTS
    of_run = isinstance(left, Named) and is_field(left.token)
    return None if is_path and operator not in EQUALITY and not of_run else token


def _computed(left: Part, operator: Token, right: Part) -> Computed:
    condition = Computed(_term(left), str(operator), _term(right))
    if not any(fields_of(condition)):
        raise refusal(first_token(left), "A condition needs an attribute.")
    if operator_count(condition) > MAX_OPERATORS:
        message = f"A condition has at most {MAX_OPERATORS} of + - * and /."
        raise refusal(first_token(left), message)
    return condition


def _term(part: Part) -> Term:
    match part:
        case Sum(left=left, sign=sign, right=right):
            return Calculation(_term(left), str(sign), _term(right))
        case Token():
            return number_of(part)
        case Named(token=token) if token.type == "WORD" and token in CONSTANTS:
            reason = f"{token} cannot be used in arithmetic; an attribute of that name"
            raise refusal(token, f'{reason} must be quoted: "{token}".')
    operand = read_operand(part)
    if isinstance(operand, RunField):
        token = first_token(part)
        reason = f"A run's {token} cannot be used in arithmetic{_unless(token)}."
        raise refusal(token, reason)
    return operand


def _condition(
    operand: Operand, operator: Token, token: Token, now: datetime
) -> Comparison:
    """Compare with a value; texts are converted to the operand's type."""
    value = read_value(token)
    if isinstance(operand, RunField):
        value = _field_value(operand.name, token, value, now)
    elif isinstance(value, timedelta):
        raise refusal(
            token, "Only duration, wall_time, created, started and ended have units."
        )
    elif operand.summary != "last" and not _is_number(value):
        raise refusal(token, f"{operand.summary}(…) is a number.")
    if isinstance(value, bool | str) and operator not in EQUALITY:
        raise refusal(operator, "Text, true and false support only = and !=.")
    return Comparison(operand, str(operator), value)


def likeness(operand: Operand, operator: Token, text: Token) -> Likeness:
    has_text = (
        operand.name in TEXTS and operand.name != "state"
        if isinstance(operand, RunField)
        else operand.summary == "last"
    )
    if not has_text:
        raise refusal(operator, "Only names and text support ~.")
    return Likeness(operand, read_text(text))


def _is_number(value: Value) -> bool:
    return isinstance(value, float)


def _field_value(name: str, token: Token, value: Value, now: datetime) -> Value:
    if name == "state":
        return _state(token)
    if name in TEXTS:
        return read_text(token)
    if name in UNITS:
        return _number(name, token, value)
    return _when(token, value, now) if name in MOMENTS else _span_of(token, value)


def _state(token: Token) -> Value:
    state = read_text(token)
    if state not in STATES:
        raise refusal(token, f"A state is one of {', '.join(STATES)}.")
    return state


def _number(name: str, token: Token, value: Value) -> Value:
    if not _is_number(value):
        reason = f"A run's {name} is a number of {UNITS[name]}"
        raise refusal(token, f"{reason}{_unless(name)}.")
    return value


def _unless(name: str) -> str:
    """Return a hint that an attribute with the name of a field must be quoted."""
    return f'; an attribute of that name must be quoted: "{name}"'


def _when(token: Token, value: Value, now: datetime) -> Value:
    """Return a timestamp; "-7d" is seven days ago."""
    match value:
        case datetime():
            return value
        case timedelta():
            return now + value
        case str() if token.type == "STRING":
            return _moment(token, value)
    raise refusal(token, "A time is like 2026-01-31, 2026-01-31T12:00Z or -7d.")


def _span_of(token: Token, value: Value) -> Value:
    match value:
        case timedelta():
            return value
        case float() if abs(value) <= LONGEST_SPAN.total_seconds():
            return timedelta(seconds=value)
    raise refusal(token, "A duration is like 90, 90s, 5m, 2h or 1d.")


def _span(token: Token) -> timedelta:
    seconds = float(token[:-1]) * SECONDS[token[-1]]
    if abs(seconds) > LONGEST_SPAN.total_seconds():
        raise refusal(token, f"That is more than {LONGEST_SPAN.days:,} days.")
    return timedelta(seconds=seconds)


def _moment(token: Token, text: str) -> datetime:
    """Read a timestamp; without a time zone it is UTC."""
    try:
        moment = datetime.fromisoformat(text)
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        if EARLIEST <= moment <= LATEST:
            return moment.astimezone(UTC)
    except (ValueError, OverflowError):
        pass
    raise refusal(token, "A time is like 2026-01-31 or 2026-01-31T12:00Z.")
