"""State of a runs table from its address: filter, order, columns, groups.

Saved views store the same text. An address with a view contains only the differences;
an empty parameter removes that part of the view.
"""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from django.http import QueryDict

from tracker.errors import InvalidInput
from tracker.queries.runs.column_keys import OF_RUN, of_attribute
from tracker.queries.runs.filter.filters import RunFilter, is_searchable
from tracker.queries.runs.order import RunOrder
from tracker.queries.runs.requested import read_runs
from web.pages.charts.arrangement import read_arrangement

LAYOUT = "layout"
# Parameters of the table's address and of saved views.
PARTS = (
    *("q", "state", "tag", "by", "query", "sort", "column", "pin", "width"),
    *("group", "show", "rows", "top", "children"),
    # Whether charts are shown next to the list of runs, and their options.
    *("as", "text", "together", "smoothing", "log", "axis"),
    *("smoother", "regex", "over", "logx", "clip", "bare", LAYOUT),
)
CHARTS = "charts"
# Children are rows like all others, instead of being folded below their parents.
FLAT = "flat"
MAX_COLUMNS = 50
MAX_ON_TOP = 6
LONGEST_STATE = 8_000


@dataclass(frozen=True, slots=True)
class TableState:
    """`columns` is empty where the project's runs select them.

    `top` are the pinned runs above all others. `parent` is the run whose children are
    read; None: runs of all levels or, in a nested table, those without a parent.
    """

    wanted: RunFilter
    order: RunOrder
    columns: tuple[str, ...]
    groups: tuple[str, ...]
    top: tuple[UUID, ...] = ()
    parent: UUID | None = None
    is_flat: bool = False

    @property
    def may_nest(self) -> bool:
        """Whether children may be folded: a filter finds runs of all levels."""
        return not self.is_flat and not self.groups and self.wanted.tree is None


def read_table(query: QueryDict) -> TableState:
    """Parse an address; raise InvalidInput for invalid parts."""
    columns = read_columns(query)
    wanted, order = read_runs(query)
    return TableState(
        wanted,
        order,
        columns,
        read_groups(query),
        read_top(query),
        parent=read_parent(query),
        is_flat=query.get("children") == FLAT or query.get("as") == CHARTS,
    )


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


def read_parent(query: QueryDict) -> UUID | None:
    text = query.get("parent", "")
    try:
        return UUID(text) if text else None
    except ValueError as error:
        raise InvalidInput("parent", "must be the id of a run") from error


def with_view(asked: QueryDict, kept: str) -> QueryDict:
    """Return the parts of the address, and a view's for the others."""
    merged = QueryDict(kept, mutable=True)
    for name in PARTS:
        if name in asked:
            merged.setlist(name, asked.getlist(name))
    return merged


def says_nothing(asked: QueryDict) -> bool:
    """Return whether an address has no parameter of the table."""
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
    if layout := kept.get(LAYOUT):
        read_arrangement(layout)
    return kept.urlencode()
