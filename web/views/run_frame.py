"""What every page of a run shows around itself: its header and its tabs."""

from __future__ import annotations

import json
from typing import Any

from tracker.access import may_edit
from tracker.disclosure import seen_neighbours, seen_overview
from tracker.queries.neighbours import neighbours_of
from tracker.queries.run import run_overview
from web.session import PageRequest

SNIPPET = """\
import agent

run = agent.init(
    {name},
    project={project},
    stage="evaluate",
)
run["evaluate/accuracy"].append(0.97)
run.finish()"""


# The tabs of a run, by their names: those of their addresses.
TABS = {
    "overview": "run",
    "charts": "run-charts",
    "hardware": "run-hardware",
    "attributes": "run-attributes",
    "logs": "run-logs",
    "files": "run-files",
    "source": "run-source",
}


# Any: a readable row of the runs table, which pages do not import, and a template's
# context: whatever its template shows.
def run_frame(request: PageRequest, run: Any, tab: str) -> dict[str, Any]:
    overview = seen_overview(request.actor, run_overview(run))
    return {
        "run": run,
        "overview": overview,
        "lasted": overview.duration and overview.duration.total_seconds(),
        "project": run.project,
        "may_edit": may_edit(request.actor, run.project),
        "run_tab": tab,
        "neighbours": seen_neighbours(request.actor, neighbours_of(run)),
        "tab_view": TABS.get(tab, "run"),
        "join_snippet": SNIPPET.format(
            # JSON's strings are Python's, and they escape what could end the line.
            name=json.dumps(run.name),
            project=json.dumps(run.project.slug),
        ),
    }
