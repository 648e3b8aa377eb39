"""What a comparison shows, as its address says it: runs, reference, tab, axis."""

from __future__ import annotations

from dataclasses import dataclass, replace
from urllib.parse import urlencode
from uuid import UUID

from django.http import QueryDict

from tracker.queries.comparison import RUNS_AT_MOST

TABS = {
    "charts": "Charts",
    "table": "Side by side",
    "diagnoses": "Diagnoses",
}
AXES = {"step": "Step", "relative": "Relative time", "time": "Time"}
FILTER_LENGTH = 1_024
# Of a text that is no run's id, this much is repeated to the reader.
SHOWN_OF_UNKNOWN = 40


@dataclass(frozen=True, slots=True)
class CompareState:
    """Every part has a default, so that any address shows something."""

    runs: tuple[UUID, ...] = ()
    reference: UUID | None = None
    tab: str = "charts"
    axis: str = "step"
    everything: bool = False  # rows that do not differ, too
    text: str = ""  # part of the paths to chart
    unreadable: tuple[str, ...] = ()  # what `runs` holds and is no id
    left_out: int = 0  # runs beyond the most that can be told apart

    @property
    def query(self) -> str:
        wanted = {
            "runs": ",".join(map(str, self.runs)),
            "reference": str(self.reference or ""),
            "tab": self.tab if self.tab != "charts" else "",
            "axis": self.axis if self.axis != "step" else "",
            "rows": "all" if self.everything else "",
            "text": self.text,
        }
        return urlencode({name: value for name, value in wanted.items() if value})

    def having(self, **changes: object) -> str:
        """Return the query of the same comparison with something changed."""
        return replace(self, **changes).query  # type: ignore[arg-type]  # names are ours

    def without(self, run_id: UUID) -> str:
        return self.having(
            runs=tuple(run for run in self.runs if run != run_id),
            reference=None if self.reference == run_id else self.reference,
        )

    def along_with(self, run_id: UUID) -> str:
        return self.having(runs=tuple(dict.fromkeys([*self.runs, run_id])))


def read_state(query: QueryDict) -> CompareState:
    """Read an address; what cannot be meant is left at its default or named."""
    ids: list[UUID] = []
    unreadable: list[str] = []
    for text in filter(None, map(str.strip, query.get("runs", "").split(","))):
        run_id = as_id(text)
        if run_id is None:
            unreadable.append(text[:SHOWN_OF_UNKNOWN])
        elif run_id not in ids:
            ids.append(run_id)

    reference = as_id(query.get("reference", ""))
    tab, axis = query.get("tab", ""), query.get("axis", "")
    return CompareState(
        runs=tuple(ids[:RUNS_AT_MOST]),
        reference=reference if reference in ids[:RUNS_AT_MOST] else None,
        tab=tab if tab in TABS else "charts",
        axis=axis if axis in AXES else "step",
        everything=query.get("rows") == "all",
        text=query.get("text", "").strip()[:FILTER_LENGTH],
        unreadable=tuple(unreadable[:RUNS_AT_MOST]),
        left_out=max(0, len(ids) - RUNS_AT_MOST),
    )


def as_id(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
