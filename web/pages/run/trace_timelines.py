"""Timelines of profiler traces that explain a finding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tracker.queries.diagnoses.diagnoses import FindingView
from tracker.queries.run.files import file_paths
from web.pages.run.stage_sections import StageSection

_TRACED_SIGNALS = ("traced_", "exposed_")


# Any: a row of the runs table, which pages do not import.
def trace_timelines(run: Any, sections: Sequence[StageSection]) -> dict[int, str]:
    """Return the file path of the first timeline, by id of each finding of a trace."""
    found: dict[int, str] = {}
    for section in sections:
        traced = [finding.id for finding in section.sure if _cites_a_trace(finding)]
        path = _first_timeline(run, section.stage.name) if traced else None
        if path is not None:
            found |= dict.fromkeys(traced, path)
    return found


# Any: as above.
def _first_timeline(run: Any, stage: str) -> str | None:
    return next(iter(file_paths(run, f"monitoring/{stage}/timelines/")), None)


def _cites_a_trace(finding: FindingView) -> bool:
    return any(
        evidence.signal.startswith(_TRACED_SIGNALS) for evidence in finding.evidence
    )
