"""Which runs the address of a table asks for, and in which order."""

from __future__ import annotations

from django.http import QueryDict

from tracker.errors import InvalidInput
from tracker.queries.run_query.tree import Both
from tracker.queries.runs.filters import RunFilter, read_query
from tracker.queries.runs.order import RunOrder, read_order

# Of a group within a group, a condition for each.
MAX_WITHIN = 4


def read_runs(query: QueryDict) -> tuple[RunFilter, RunOrder]:
    """Read an address, or what a view keeps of one; raise InvalidInput at a mistake."""
    order = read_order(query.getlist("sort"))
    parts = [read_query(text) for text in _queries(query)]
    trees = tuple(part for part in parts if part is not None)
    wanted = RunFilter(
        text=query.get("q", "").strip(),
        state=query.get("state", ""),
        tag=query.get("tag", ""),
        made_by=query.get("by", ""),
        query=trees[0] if len(trees) == 1 else Both(trees) if trees else None,
    )
    return wanted, order


def _queries(query: QueryDict) -> list[str]:
    """Return what was written, and the condition of the group that is looked into."""
    within = query.getlist("within")
    if len(within) > MAX_WITHIN:
        raise InvalidInput("within", f"must be at most {MAX_WITHIN} queries")
    return [query.get("query", ""), *within]
