"""The source of a run: its code, packages and environment."""

from __future__ import annotations

import re
from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from tracker.access.runs import readable_run, runs_of
from tracker.disclosure import seen_source
from tracker.errors import InvalidInput
from tracker.queries.run.run import RunOverview
from tracker.queries.run.source import CapturedSource, captured_source
from web.pages.charts.figures import chosen_stages
from web.pages.run.command_line import arguments_of
from web.pages.run.frame import run_frame
from web.pages.run_files.source_cards import (
    OFF,
    git_card,
    loaded_rows,
    machine_rows,
    package_rows,
    script_card,
)
from web.pages.run_files.source_changes import source_changes
from web.session import PageRequest, signed_in

LINE = re.compile("[0-9]{1,7}")


@require_safe
@signed_in
def source(request: PageRequest, run_id: UUID) -> HttpResponse:
    run = readable_run(request.actor, run_id)
    frame = run_frame(request, run, "source")
    overview: RunOverview = frame["overview"]
    stages = chosen_stages(overview, request.GET.get("stage", ""))
    context = {**frame, "stage": stages[0].name if stages else ""}
    if stages:
        captured = captured_source(run, stages[0].name)
        found = seen_source(request.actor, captured)
        packages = found.part("packages")
        context |= {
            "is_captured": any(
                found.part(part) for part in ("source", "git", "packages")
            ),
            "script": script_card(found.part("source"), _line(request)),
            "arguments": arguments_of(found.text("source", "arguments")),
            **_against(request, frame, found, stages[0].name),
            "git": git_card(found.part("git")),
            "packages": package_rows(packages),
            "packages_absent": found.text("packages", "absent") or OFF,
            "loaded": loaded_rows(packages),
            "environment": sorted(found.part("environment").items()),
            "machine": machine_rows(found.part("facts")),
            "signals": sorted(found.part("signals").items()),
        }
    return render(request, "run/source.html", context)


def _line(request: PageRequest) -> int:
    """Return the line to show; 0 if none is chosen."""
    text = request.GET.get("line", "")
    return int(text) if LINE.fullmatch(text) else 0


# Any: a template's context.
def _against(
    request: PageRequest, frame: dict[str, Any], found: CapturedSource, stage: str
) -> dict[str, Any]:
    """Compare with the run in the address, or the last one that finished before.

    For visitors by share link there is no default, so that other runs stay hidden.
    """
    if request.actor.grant is not None:
        return {}
    compared = frame["neighbors"].compared
    run_id = request.GET.get("against") or (str(compared.id) if compared else "")
    try:
        others = runs_of(frame["project"], [UUID(run_id)]) if run_id else []
    except ValueError as error:
        raise InvalidInput("against", "must be the id of a run") from error
    if not others:
        return {}
    changes = source_changes(captured_source(others[0], stage), found)
    return {"against": others[0], "changes": changes}
