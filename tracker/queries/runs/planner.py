"""Tells PostgreSQL's planner how many runs a statement is about.

It guesses how many runs a condition leaves from what all paths hold together, and is
wrong by a factor of hundreds: then it looks up a hundred thousand runs one after the
other, which takes seconds. Built as a set, the same takes a tenth of one. Of a few runs
that are named, it believes that each must be looked for in every partition of a table,
and would rather read what all runs have at a path.

SQLite needs no telling.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from django.db import connection, transaction

LARGE_SETS = {
    "enable_nestloop": "off",
    "enable_hashjoin": "on",
    "enable_mergejoin": "on",
    # A set that is thought not to fit would be searched from end to end for each run.
    "hash_mem_multiplier": "32",
    # Starting helpers, and compiling, takes as long as they save.
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
    """What is expected holds until something else is, or the transaction ends."""

    def __init__(self) -> None:
        self._expected: Mapping[str, str] = {}

    def expect_large_sets(self) -> None:
        """Join sets of runs, however few are thought to be in them."""
        self._set(LARGE_SETS)

    def expect_small_sets(self) -> None:
        """Look up what belongs to a few runs, run by run."""
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
