"""What columns a runs table can have, by key (pure).

"path:train/loss" is what an attribute says, "min:train/loss" what the summary of a
series says; anything else is one of OF_RUN.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from tracker.queries.run_query.tree import SUMMARIES

PATH_MARK = "path:"
SUMMARY_MARKS = {
    PATH_MARK: "last",
    **{f"{name}:": name for name in SUMMARIES if name != "last"},
}
# The first columns of a table for which no columns are chosen.
DEFAULT = ("started", "duration", "made_by", "tags")
# What the ledger of time says of a run.
OF_GPU_TIME = ("gpu_idle", "gpu_hours", "energy")
# Columns of the run whose numbers are put together in groups.
NUMBERS_OF_RUN = ("duration", "wall_time", "gpu", "cpu", *OF_GPU_TIME)
OF_RUN = (
    *("state", "started", "duration", "stages", "tags", "finding", "gpu", "cpu"),
    *("wall_time", *OF_GPU_TIME, "created", "ended", "made_by"),
)


@dataclass(frozen=True, slots=True)
class OfAttribute:
    """A column that shows one path: its value, or one number of its summary."""

    path: str
    summary: str


def of_attribute(key: str) -> OfAttribute | None:
    """Return what of an attribute the column shows; None: it is about the run."""
    mark, colon, path = key.partition(":")
    summary = SUMMARY_MARKS.get(f"{mark}{colon}")
    return OfAttribute(path, summary) if summary and path else None


def paths_of(keys: Collection[str]) -> list[str]:
    """Return the paths that the columns show, each once."""
    found = filter(None, map(of_attribute, keys))
    return list(dict.fromkeys(column.path for column in found))
