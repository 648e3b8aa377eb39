"""The header and tabs of a run's pages."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils.functional import SimpleLazyObject

from tracker.access.projects import may_edit
from tracker.disclosure import seen_neighbors, seen_overview
from tracker.queries.people.follows import follows_run
from tracker.queries.run.code_profile import profile_places
from tracker.queries.run.comments import comment_count
from tracker.queries.run.family import fork_point_of, parent_of
from tracker.queries.run.neighbors import neighbors_of
from tracker.queries.run.run import RunOverview, may_go_on, may_resume, run_overview
from tracker.queries.series.versions import version_of_summaries
from web.polling import poll_unless
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

# Rounding and the start of the next process are no pause.
SHORTEST_PAUSE_SECONDS = 1.0

# The tabs of a run, by their names: those of their addresses.
TABS = {
    "overview": "run",
    "charts": "run-charts",
    "media": "run-media",
    "hardware": "run-hardware",
    "profile": "run-profile",
    "attributes": "run-attributes",
    "logs": "run-logs",
    "files": "run-files",
    "source": "run-source",
    "comments": "run-comments",
}


def _had_pauses(overview: RunOverview) -> bool:
    """Return whether a run's wall time is visibly longer than its duration."""
    if overview.duration is None or overview.wall_time is None:
        return False
    return overview.wall_time - overview.duration > SHORTEST_PAUSE_SECONDS


# Any: a readable row of the runs table, which pages do not import.
def news_of(request: PageRequest, run: Any) -> tuple[object, ...]:
    """Return a cheap version of the content of all tabs.

    Changes made by users on pages are not part of it.
    """
    address = request.get_full_path()
    return version_of_summaries([run], address), may_go_on(run), may_resume(run)


# Any: as below.
def tab_answer(
    request: PageRequest, run: Any, tab: str, context: Callable[[], dict[str, Any]]
) -> HttpResponse:
    """Return a tab; for a poll only its content, and only if it may have changed."""
    if not request.htmx:
        return render(request, f"run/{tab}.html", context())
    return poll_unless(
        request,
        news_of(request, run),
        lambda: render_to_string(f"run/{tab}_body.html", context(), request),
    )


# Any: a readable row of the runs table, which pages do not import, and a template's
# context.
def run_frame(request: PageRequest, run: Any, tab: str) -> dict[str, Any]:
    overview = seen_overview(request.actor, run_overview(run))
    return {
        "run": run,
        "overview": overview,
        "lasted": overview.duration,
        "had_pauses": _had_pauses(overview),
        "silence": overview.silent_for,
        "project": run.project,
        "may_edit": may_edit(request.actor, run.project),
        # The header with it does not refresh itself.
        "follows": SimpleLazyObject(lambda: follows_run(request.actor.user_id, run)),
        "parent": parent_of(run, request.actor),
        "fork_point": fork_point_of(run, request.actor),
        "run_tab": tab,
        # Pages with the tabs read it, polls of a tab's content do not.
        "profile_places": SimpleLazyObject(lambda: profile_places(run)),
        "comment_count": SimpleLazyObject(lambda: comment_count(run.id)),
        "neighbors": seen_neighbors(request.actor, neighbors_of(run)),
        "tab_view": TABS.get(tab, "run"),
        "join_snippet": SNIPPET.format(
            # JSON strings are valid Python, with line breaks escaped.
            name=json.dumps(run.name),
            project=json.dumps(run.project.slug),
        ),
    }
