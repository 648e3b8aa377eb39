"""Selects the runs of a page.

If many runs match, a page's runs are among the first few hundred of all runs, which an index
yields in order; these are checked one by one. Otherwise, or if they do not fill the page, the
database sorts the whole matching set.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from math import ceil

from tracker.queries.runs.filter.conditions import paths_in
from tracker.queries.runs.filter.filters import Found
from tracker.queries.runs.order import RunOrder, segments_of
from tracker.queries.runs.planner import Planner
from tracker.queries.runs.segments import Place, places_after, places_from

# In the time of one check, this many runs can be sorted ...
SORTED_MEANWHILE = 25
# ... and this many matching runs collected into a set, which finds all runs at once.
COLLECTED_MEANWHILE = 50
# Maximum number of parameters of a statement.
MAX_LOOKED_UP = 10_000
# Safety factor, because matching runs are not distributed evenly.
SPARE = 1.5


@dataclass(frozen=True, slots=True)
class Stretch:
    """A part of an order: after a position, or from an offset."""

    order: RunOrder
    now: datetime
    after: Place | None
    offset: int
    limit: int

    def read(self, found: Found) -> list[Place]:
        segments = segments_of(self.order, found, self.now)
        if self.after is not None:
            return places_after(segments, self.after, limit=self.limit)
        return places_from(segments, found.count, offset=self.offset, limit=self.limit)


def places_of_page(found: Found, page: Stretch, planner: Planner) -> list[Place]:
    """Return the positions of matching runs with a few statements."""
    planner.expect_large_sets()
    if found.is_few:
        planner.expect_small_sets()
        return page.read(found)
    length = _worth_looking_up(found, page)
    if not length:
        return page.read(found)

    first = replace(page, offset=0, limit=length).read(found.everyone)
    looked_up = [place.run_id for place in first]
    if length * COLLECTED_MEANWHILE < found.count:
        planner.expect_small_sets()
        ids = found.among(looked_up)
    else:
        ids = found.among_summaries(looked_up)
    matching = [place for place in first if place.run_id in ids][page.offset :]
    if len(matching) >= page.limit or len(first) < length:
        return matching[: page.limit]
    planner.expect_large_sets()
    return page.read(found)


def _worth_looking_up(found: Found, page: Stretch) -> int:
    """Return how many of all runs probably contain enough matching ones; 0 if too many."""
    if found.tree is None:
        return 0
    # If the order uses a path of the query, an index finds the matching runs at one end.
    if page.order.path in paths_in(found.tree):
        return 0
    wanted = page.offset + page.limit
    length = ceil(SPARE * wanted * found.everyone.count / found.count)
    is_worth_it = length * SORTED_MEANWHILE < found.everyone.count
    return length if is_worth_it and length <= MAX_LOOKED_UP else 0
