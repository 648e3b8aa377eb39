"""What a run's machines did, all stages above one axis of time."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from tracker.queries.attributes import Value
from tracker.queries.hardware import measures_of
from tracker.queries.namespaces import monitoring_path
from tracker.queries.run import RunOverview, has_readings
from web.figures.hardware import is_drawn
from web.figures.hardware_kinds import GROUPS, OVERVIEW, Group
from web.session import PageRequest, signed_in
from web.views.figures import chosen_group, chosen_stages
from web.views.run_frame import run_frame

PROBES = "facts/probes/"
# What a probe says that was to measure and does not.
SILENT = ("fails", "does not answer")
FACTS = (
    ("facts/host", "host"),
    ("facts/effective_cores", "cores it may use"),
    ("facts/cpu_quota_cores", "its CPU quota"),
    ("facts/host_cores", "cores of the host"),
    ("facts/cpu_model", "processor"),
    ("facts/memory_limit_bytes", "memory it may use"),
    ("facts/gpu_count", "GPUs"),
    ("facts/gpu/0/name", "GPU"),
    ("facts/gpu/0/measured_with", "GPU measured with"),
    ("facts/gpu/0/compute_capability", "GPU's compute capability"),
    ("facts/gpu/0/power_limit_watts", "GPU's power limit (W)"),
    ("facts/gpu/0/state", "GPU's state"),
    ("facts/gpu/0/last_xid", "GPU's last error (XID)"),
    ("facts/gpu_driver", "GPU driver"),
    ("facts/gpu_driver_cuda", "its CUDA"),
    ("facts/storage/work/file_system", "file system it works on"),
    ("facts/storage/data/file_system", "file system of its data"),
    ("facts/storage/shared_memory/total_bytes", "/dev/shm"),
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
    group = chosen_group(request.GET.get("group", ""))
    names = [row.name for row in shown]
    context = {
        **frame,
        "stage": stage,
        "has_readings": has_readings(frame["run"]),
        "group": group,
        "groups": measured_groups(frame["run"], names),
        "figure_query": urlencode(
            {k: v for k, v in (("stage", stage), ("group", group.name)) if v}
        ),
        "facts": facts_table(overview, names),
        "silent": silent_probes(overview, names),
        "shown": shown,
    }
    return render(request, "run/hardware.html", context)


# Any: tables are not for pages to import.
def measured_groups(run: Any, stages: list[str]) -> list[Group]:
    """Return the groups of rows that there is something to draw in."""
    measures = measures_of(run, stages)
    return [
        group
        for group in GROUPS
        if group is OVERVIEW or any(is_drawn(measure, group) for measure in measures)
    ]


def silent_probes(overview: RunOverview, stages: list[str]) -> list[tuple[str, str]]:
    """Return the probes that did not say what they should, and why; each pair once."""
    found: dict[tuple[str, str], None] = {}
    for stage in stages:
        prefix = monitoring_path(stage, PROBES)
        for path, row in overview.facts.items():
            if path.startswith(prefix) and str(row.value).startswith(SILENT):
                found[path.removeprefix(prefix), str(row.value)] = None
    return list(found)


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
