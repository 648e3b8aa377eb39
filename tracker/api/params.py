"""Query parameters that several endpoints share, with their limits.

Limits belong in `Query` itself: next to other constraints, ninja loses the default.
"""

from __future__ import annotations

from typing import Annotated

from ninja import Query
from pydantic import FiniteFloat, StringConstraints

from tracker.models import Kind, RuleCondition, RuleUnit, State
from tracker.queries.run_query.parser import MAX_CHARACTERS
from tracker.queries.runs.column_keys import SUMMARY_MARKS
from tracker.queries.runs.order import COLUMNS

LONGEST_TEXT = 1_024
# Stored texts never contain NUL, and PostgreSQL rejects comparisons with one.
NO_NUL = r"^[^\x00]*$"
LONGEST_CURSOR = 16_384
KIND = f"^({'|'.join(['', *Kind.values])})$"
STATE = f"^({'|'.join(['', *State.values])})$"
SORT = rf"^-?({'|'.join(COLUMNS)}|({'|'.join(SUMMARY_MARKS)})[^\x00]+)$"

# Endpoints do not import models.
Condition = RuleCondition
Unit = RuleUnit

Name = Annotated[
    str, StringConstraints(min_length=1, max_length=LONGEST_TEXT, pattern=NO_NUL)
]
Text = Annotated[str, Query(max_length=LONGEST_TEXT, pattern=NO_NUL)]
StateName = Annotated[str, Query(pattern=STATE, description="Empty for any.")]
Prefix = Annotated[
    str,
    Query(
        max_length=LONGEST_TEXT,
        pattern=NO_NUL,
        description="Only paths with this prefix.",
    ),
]
Sort = Annotated[
    str,
    Query(
        max_length=len("-") + max(map(len, SUMMARY_MARKS)) + LONGEST_TEXT,
        pattern=SORT,
        description="A column such as `started`, `name`, `state` or `duration`, or"
        " `path:` and an attribute's path, or `min:`, `max:`, `mean:`, `count:`,"
        " `first_step:` or `last_step:` and a series' path; with `-` before it,"
        " largest first.",
    ),
]
RunQuery = Annotated[
    str,
    Query(
        max_length=MAX_CHARACTERS,
        pattern=NO_NUL,
        description="Which runs, such as `train/loss < 0.3 and state = failed`.",
    ),
]
Cursor = Annotated[
    str,
    Query(
        max_length=LONGEST_CURSOR,
        description="`next` of the previous page, with the same sort."
        " Then `offset` means nothing.",
    ),
]
Columns = Annotated[
    list[Name],
    Query(
        alias="column",
        max_length=50,
        description="Attribute paths to return with each run; may be repeated.",
    ),
]
KindName = Annotated[str, Query(pattern=KIND, description="Empty for any.")]
Limit = Annotated[int, Query(ge=1, le=200, description="Maximum number of results.")]
Offset = Annotated[int, Query(ge=0, le=2**31, description="Number of results to skip.")]
Paths = Annotated[
    list[Name],
    Query(alias="path", min_length=1, max_length=50, description="May be repeated."),
]
Low = Annotated[FiniteFloat | None, Query(description="Lower bound on the axis.")]
High = Annotated[FiniteFloat | None, Query(description="Upper bound on the axis.")]
Buckets = Annotated[
    int, Query(ge=1, le=10_000, description="Approximate number of buckets.")
]
