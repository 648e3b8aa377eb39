"""What a run's machines did, all stages above one axis of time."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from tracker.queries.attributes import Value
from tracker.queries.namespaces import monitoring_path
from tracker.queries.run import RunOverview, has_readings
from web.session import PageRequest, signed_in
from web.views.figures import chosen_stages
from web.views.run_frame import run_frame

FACTS = (
    ("facts/host", "host"),
    ("facts/effective_cores", "cores it may use"),
    ("facts/host_cores", "cores of the host"),
    ("facts/memory_limit_bytes", "memory it may use"),
    ("facts/gpu_count", "GPUs"),
    ("facts/gpu/0/name", "GPU"),
    ("facts/framework", "framework"),
    ("facts/loader_workers", "loader workers"),
    ("facts/batch_size", "batch size"),
    ("facts/python", "Python"),
    ("facts/platform", "platform"),
)


@require_safe
@signed_in
def hardware(request: PageRequest, run_id: UUID) -> HttpResponse:
    frame = run_frame(request, run_id, "hardware")
    overview: RunOverview = frame["overview"]
    stage = request.GET.get("stage", "")
    shown = chosen_stages(overview, stage)
    context = {
        **frame,
        "stage": stage,
        "has_readings": has_readings(frame["run"]),
        "facts": facts_table(overview, [row.name for row in shown]),
        "shown": shown,
    }
    return render(request, "run/hardware.html", context)


def facts_table(
    overview: RunOverview, stages: list[str]
) -> list[tuple[str, str, list[Value | None]]]:
    """Return a row of each fact any stage has: its label, its path, a value each."""
    rows = []
    for path, label in FACTS:
        found = [overview.facts.get(monitoring_path(stage, path)) for stage in stages]
        values = [row.value if row else None for row in found]
        if any(value is not None for value in values):
            rows.append((label, path, values))
    return rows
