"""The possible columns of a runs table, by key (pure).

"path:train/loss" is the value of an attribute, "min:train/loss" a number of the summary of a
series; all other keys are in OF_RUN.
"""

from __future__ import annotations

from dataclasses import dataclass

from tracker.queries.run_query.tree import SUMMARIES

PATH_MARK = "path:"
SUMMARY_MARKS = {
    PATH_MARK: "last",
    **{f"{name}:": name for name in SUMMARIES if name != "last"},
}
# The columns of a table without chosen columns: these, those that some of the newest runs
# have values for, metrics and parameters, and the last.
ALWAYS_SHOWN = ("started", "duration")
SHOWN_IN_USE = ("made_by", "tags")
SHOWN_LAST = ("finding",)
# Columns from the time breakdown of a run.
OF_GPU_TIME = ("gpu_idle", "gpu_hours", "energy")
# Columns of the run whose numbers are summarized in groups.
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
    """Return the attribute column for a key; None if it is a column of the run."""
    mark, colon, path = key.partition(":")
    summary = SUMMARY_MARKS.get(f"{mark}{colon}")
    return OfAttribute(path, summary) if summary and path else None
