"""The query parameters that several endpoints take, each with its bounds.

Bounds stand in `Query` itself: beside other constraints, ninja loses the default.
"""

from __future__ import annotations

from typing import Annotated

from ninja import Query
from pydantic import FiniteFloat, StringConstraints

LONGEST_TEXT = 1_024
# No stored text holds a NUL, and PostgreSQL would not even compare with one.
NO_NUL = r"^[^\x00]*$"

Name = Annotated[
    str, StringConstraints(min_length=1, max_length=LONGEST_TEXT, pattern=NO_NUL)
]
Text = Annotated[str, Query(max_length=LONGEST_TEXT, pattern=NO_NUL)]
Prefix = Annotated[
    str,
    Query(
        max_length=LONGEST_TEXT,
        pattern=NO_NUL,
        description="Only paths that begin so.",
    ),
]
Sort = Annotated[
    str,
    Query(
        max_length=LONGEST_TEXT,
        pattern=NO_NUL,
        description="A column such as `started`, `name`, `state` or `duration`, or"
        " `path:` and an attribute's path; with `-` before it, largest first.",
    ),
]
Limit = Annotated[int, Query(ge=1, le=200, description="How many at most.")]
Offset = Annotated[int, Query(ge=0, le=2**31, description="How many to pass over.")]
Paths = Annotated[
    list[Name],
    Query(alias="path", min_length=1, max_length=50, description="May be repeated."),
]
Low = Annotated[FiniteFloat | None, Query(description="Lowest place on the axis.")]
High = Annotated[FiniteFloat | None, Query(description="Highest place on the axis.")]
Buckets = Annotated[int, Query(ge=1, le=10_000, description="About how many.")]
