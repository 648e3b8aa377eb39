"""Reads the filter and order of runs from the URL of a table."""

from __future__ import annotations

import re

from django.http import QueryDict

from tracker.errors import InvalidInput
from tracker.queries.run_query.tree import Both
from tracker.queries.runs.filter.filters import RunFilter, read_query
from tracker.queries.runs.order import RunOrder, read_order

# Maximum nesting of groups; each level adds a condition.
MAX_WITHIN = 4
PATTERN = re.compile(r"/(.*)/", re.DOTALL)


def read_runs(query: QueryDict) -> tuple[RunFilter, RunOrder]:
    """Read a URL query, or that of a saved view; raise InvalidInput if it is invalid."""
    order = read_order(query.getlist("sort"))
    parts = [read_query(text) for text in _queries(query)]
    trees = tuple(part for part in parts if part is not None)
    text, pattern = read_search(query.get("q", "").strip())
    wanted = RunFilter(
        text=text,
        pattern=pattern,
        state=query.get("state", ""),
        tag=query.get("tag", ""),
        made_by=query.get("by", ""),
        query=trees[0] if len(trees) == 1 else Both(trees) if trees else None,
    )
    return wanted, order


def read_search(text: str) -> tuple[str, str]:
    """Return the text to search for and the regular expression: `/…/` is one."""
    found = PATTERN.fullmatch(text)
    return ("", found[1]) if found else (text, "")


def _queries(query: QueryDict) -> list[str]:
    """Return the query, and the conditions of the opened groups."""
    within = query.getlist("within")
    if len(within) > MAX_WITHIN:
        raise InvalidInput("within", f"must be at most {MAX_WITHIN} queries")
    return [query.get("query", ""), *within]
