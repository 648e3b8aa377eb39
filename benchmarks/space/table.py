"""The table of where bytes go (pure)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from benchmarks.peers.tables import NO, YES
from benchmarks.peers.workload import (
    CONSTANT,
    HARDWARE,
    KINDS,
    LOSS,
    least_bytes_of_a_time,
)

ROWS, TOAST, INDEXES = "rows", "TOAST", "indexes"
POSTGRES_KINDS = (ROWS, TOAST, "index of TOAST", INDEXES, "maps")
# The tables that grow with points, and the one that grows with series.
STORE = {"tracker_serieschunk": "chunks", "tracker_seriesticks": "ticks"}
SERIES = "tracker_attribute"
JOURNAL = "tracker_journalentry"

PAYLOAD = ("values", "buckets of values", "steps", "times", "buckets of ticks")
HEADS = "heads of rows and of TOAST's parts, gaps in pages"
ROWS_OF_SERIES = "rows of series, with indexes"
# Not a cost of points: the next run reuses the space.
OTHERS = ("the journal, which is empty", "all other tables, with their statistics")
# Goals in bytes per point, including times.
GOALS = {LOSS: 4.0, CONSTANT: 0.1, HARDWARE: 2.0}

# Sizes by table name and part.
Sizes = Counter[tuple[str, str]]


def parts_of(payload: Mapping[str, int], grown: Sizes) -> Counter[str]:
    """Return the parts of a run's size: its numbers, and the growth of tables."""
    parts = Counter(payload)
    # The numbers are in the pages of rows and of TOAST.
    parts[HEADS] = -parts.total()
    for (table_name, part), size in sorted(grown.items()):
        parts[_named(table_name, part)] += size
    return parts


def _named(table_name: str, part: str) -> str:
    if table_name in STORE:
        in_pages = part in (ROWS, TOAST)
        return HEADS if in_pages else f"{STORE[table_name]}: {part}"
    if table_name == SERIES:
        return ROWS_OF_SERIES
    return OTHERS[0 if table_name == JOURNAL else 1]


def table(found: Sequence[Counter[str]], metrics: int, steps: int) -> Iterator[str]:
    """Yield the bytes per point of each kind, by part."""
    points = metrics * steps
    title = f"bytes a point, of {steps:,} steps of {metrics:,} metrics"
    yield "| " + " | ".join([title, *KINDS]) + " |"
    yield "|---" * (1 + len(KINDS)) + "|"
    names = dict.fromkeys(name for parts in found for name in parts)
    for name in names:
        if name not in OTHERS:
            yield _row(name, [parts[name] / points for parts in found])
    yield _row("**all of these**", [kept_bytes(parts) / points for parts in found])
    shared = [least_bytes_of_a_time(kind) / metrics for kind in KINDS]
    yield _row("the entropy of the times alone", shared)
    for name in OTHERS:
        yield _row(f"besides: {name}", [parts[name] / points for parts in found])


def kept_bytes(parts: Mapping[str, int]) -> int:
    """Return the size of a run, without reusable space."""
    return sum(size for name, size in parts.items() if name not in OTHERS)


def verdicts(found: Sequence[Counter[str]], points: int) -> Iterator[str]:
    """Yield whether a point of each kind takes no more than it is to."""
    yield "| kind | bytes a point | at most | holds |"
    yield "|---|---|---|---|"
    for kind, parts in zip(KINDS, found, strict=True):
        each, most = kept_bytes(parts) / points, GOALS[kind]
        yield f"| {kind} | {each:.3f} | {most:g} | {YES if each <= most else NO} |"


def all_hold(found: Sequence[Counter[str]], points: int) -> bool:
    return all(
        kept_bytes(parts) / points <= GOALS[kind]
        for kind, parts in zip(KINDS, found, strict=True)
    )


def _row(name: str, cells: Sequence[float]) -> str:
    return "| " + " | ".join([name, *(f"{cell:.3f}" for cell in cells)]) + " |"
