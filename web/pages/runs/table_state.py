"""What a runs table shows, as its address says it: filter, order, columns, groups.

The same text is what a saved view keeps. An address that names a view says only what
differs from it; a part that is there and empty takes away what the view has.
"""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from django.http import QueryDict

from tracker.errors import InvalidInput
from tracker.queries.runs.column_keys import OF_RUN, of_attribute
from tracker.queries.runs.filters import RunFilter, is_searchable
from tracker.queries.runs.order import RunOrder
from tracker.queries.runs.requested import read_runs

# Everything that an address may say about the table, and a view keeps.
PARTS = (
    *("q", "state", "tag", "by", "query", "sort", "column", "pin", "width"),
    *("group", "show", "rows", "top"),
    # Whether charts stand beside a list of the runs, and how those are drawn.
    *("as", "text", "together", "smoothing", "log", "axis"),
    *("regex", "over", "logx", "clip", "bare"),
)
CHARTS = "charts"
MAX_COLUMNS = 50
MAX_ON_TOP = 6
LONGEST_STATE = 8_000


@dataclass(frozen=True, slots=True)
class TableState:
    """`columns` is empty where the address leaves them to the project's runs.

    `top` are runs that stand above the others, whatever these are.
    """

    wanted: RunFilter
    order: RunOrder
    columns: tuple[str, ...]
    groups: tuple[str, ...]
    top: tuple[UUID, ...] = ()


def read_table(query: QueryDict) -> TableState:
    """Parse an address; raise InvalidInput for invalid parts."""
    columns = read_columns(query)
    wanted, order = read_runs(query)
    return TableState(wanted, order, columns, read_groups(query), read_top(query))


def read_columns(query: QueryDict) -> tuple[str, ...]:
    keys = tuple(dict.fromkeys(filter(None, query.getlist("column"))))
    if len(keys) > MAX_COLUMNS:
        raise InvalidInput("column", f"must be at most {MAX_COLUMNS} columns")
    for key in keys:
        if key not in OF_RUN and not (of_attribute(key) and is_searchable(key)):
            raise InvalidInput("column", "must be a column that a table can have")
    return keys


def read_groups(query: QueryDict) -> tuple[str, ...]:
    return tuple(dict.fromkeys(filter(None, query.getlist("group"))))


def read_top(query: QueryDict) -> tuple[UUID, ...]:
    texts = tuple(dict.fromkeys(filter(None, query.getlist("top"))))
    if len(texts) > MAX_ON_TOP:
        raise InvalidInput("top", f"must be at most {MAX_ON_TOP} runs")
    try:
        return tuple(map(UUID, texts))
    except ValueError as error:
        raise InvalidInput("top", "must be the ids of runs") from error


def with_view(asked: QueryDict, kept: str) -> QueryDict:
    """Return the parts of the address, and a view's for the others."""
    merged = QueryDict(kept, mutable=True)
    for name in PARTS:
        if name in asked:
            merged.setlist(name, asked.getlist(name))
    return merged


def says_nothing(asked: QueryDict) -> bool:
    """Say whether an address leaves the whole table to the project."""
    return "view" not in asked and not any(name in asked for name in PARTS)


def kept_state(text: str) -> str:
    """Return the state that a view stores, if it is valid."""
    if len(text) > LONGEST_STATE:
        raise InvalidInput("state", f"must be at most {LONGEST_STATE:,} characters")
    asked, kept = QueryDict(text.removeprefix("?")), QueryDict(mutable=True)
    for name in PARTS:
        if values := [value for value in asked.getlist(name) if value]:
            kept.setlist(name, values)
    read_table(kept)
    return kept.urlencode()
