"""Corrects the estimates of PostgreSQL's planner for statements about runs.

The planner estimates the selectivity of a condition from the statistics over all paths, which can
be wrong by a factor of hundreds: it then performs a hundred thousand lookups, which takes seconds,
instead of building a hash table, which takes a tenth of a second. For a few given runs, it assumes
a search in every partition and prefers to read all rows of a path.

SQLite does not need this.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from django.db import connection, transaction

LARGE_SETS = {
    "enable_nestloop": "off",
    "enable_hashjoin": "on",
    "enable_mergejoin": "on",
    # A hash table that seems too large for memory would be replaced by sequential scans.
    "hash_mem_multiplier": "32",
    # Parallel workers and JIT compilation take as long to start as they save.
    "max_parallel_workers_per_gather": "0",
    "jit": "off",
}
SMALL_SETS = {
    **LARGE_SETS,
    "enable_nestloop": "on",
    "enable_hashjoin": "off",
    "enable_mergejoin": "off",
}


class Planner:
    """The settings last until the next call, or until the end of the transaction."""

    def __init__(self) -> None:
        self._expected: Mapping[str, str] = {}

    def expect_large_sets(self) -> None:
        """Use hash joins for sets of runs, however small the estimates are."""
        self._set(LARGE_SETS)

    def expect_small_sets(self) -> None:
        """Use lookups run by run, for a few runs."""
        self._set(SMALL_SETS)

    def _set(self, settings: Mapping[str, str]) -> None:
        if connection.vendor != "postgresql" or settings is self._expected:
            return
        self._expected = settings
        parts = [part for setting in settings.items() for part in setting]
        calls = ", ".join(["set_config(%s, %s, true)"] * len(settings))
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT {calls}", parts)


@contextmanager
def planner() -> Iterator[Planner]:
    if connection.vendor != "postgresql":
        yield Planner()
        return
    with transaction.atomic():
        yield Planner()
