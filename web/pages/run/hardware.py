"""Hardware use of a run, for all stages over one time axis."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.http import HttpResponse
from django.utils.translation import gettext
from django.views.decorators.http import require_safe

from tracker.access.runs import readable_run
from tracker.queries.hardware.hardware import list_measures, summaries_of
from tracker.queries.run.attributes import Value
from tracker.queries.run.namespaces import monitoring_path
from tracker.queries.run.run import RunOverview, has_readings
from web.figures.hardware import is_drawn, reading_name
from web.figures.hardware_kinds import EACH_GPU, GPUS, GROUPS, OVERVIEW, Group
from web.pages.charts.chart_options import read_number
from web.pages.charts.figures import chosen_each, chosen_group, chosen_stages
from web.pages.run.frame import run_frame, tab_answer
from web.pages.run.samples_table import reading_rows
from web.session import PageRequest, signed_in
from web.texts import gettext_lazy

PROBES = "facts/probes/"
# Reports of probes that should measure and fail.
SILENT = ("fails", "does not answer")
# Reports of probes without a device on this machine.
ABSENT = ("not here",)
# Numbers of a page; of fifty stages there may be thousands.
MAX_READ = 400
GPU_OF = re.compile(r"gpu/\d{1,4}/")
FACTS = (
    ("facts/host", gettext_lazy("host")),
    ("facts/effective_cores", gettext_lazy("available CPU cores")),
    ("facts/cpu_quota_cores", gettext_lazy("CPU quota (cores)")),
    ("facts/host_cores", gettext_lazy("host CPU cores")),
    ("facts/cpu_model", gettext_lazy("processor")),
    ("facts/memory_limit_bytes", gettext_lazy("available memory")),
    ("facts/gpu_count", gettext_lazy("GPUs")),
    ("facts/gpu/0/name", gettext_lazy("GPU")),
    ("facts/gpu/0/measured_with", gettext_lazy("GPU metrics source")),
    ("facts/gpu/0/compute_capability", gettext_lazy("GPU compute capability")),
    ("facts/gpu/0/power_limit_watts", gettext_lazy("GPU power limit (W)")),
    ("facts/gpu/0/state", gettext_lazy("GPU state")),
    ("facts/gpu/0/last_xid", gettext_lazy("last GPU error (XID)")),
    ("facts/gpu_driver", gettext_lazy("GPU driver")),
    ("facts/gpu_driver_cuda", gettext_lazy("driver CUDA version")),
    (
        "facts/storage/work/file_system",
        gettext_lazy("working folder file system"),
    ),
    ("facts/storage/data/file_system", gettext_lazy("data file system")),
    ("facts/storage/shared_memory/total_bytes", "/dev/shm"),
    ("facts/framework", gettext_lazy("framework")),
    ("facts/loader_workers", gettext_lazy("loader workers")),
    ("facts/batch_size", gettext_lazy("batch size")),
    ("facts/python", gettext_lazy("Python")),
    ("facts/platform", gettext_lazy("platform")),
)


@require_safe
@signed_in
def hardware(request: PageRequest, run_id: UUID) -> HttpResponse:
    run = readable_run(request.actor, run_id)
    return tab_answer(request, run, "hardware", lambda: _context(request, run))


# Any: a row of the runs table, which pages do not import, and a template's context.
def _context(request: PageRequest, run: Any) -> dict[str, Any]:
    frame = run_frame(request, run, "hardware")
    overview: RunOverview = frame["overview"]
    stage = request.GET.get("stage", "")
    shown = chosen_stages(overview, stage)
    group = chosen_group(request.GET.get("group", ""))
    each = request.GET.get("each", "")
    chosen_each(each)
    zoom = _zoom(request)
    names = [row.name for row in shown]
    found = list_measures(run, names)
    measures = {each.measure for each in found}
    of_first = [m for m in found if m.rank == 0 and is_drawn(m.measure, group)]
    readings = reading_rows(summaries_of(run, of_first[:MAX_READ]), group)
    query = {"stage": stage, "group": group.name, "each": each}
    return {
        **frame,
        "stage": stage,
        "has_readings": bool(measures) or has_readings(run),
        "group": group,
        "groups": measured_groups(measures),
        "each": each,
        "each_choices": each_choices(measures) if group is GPUS else [],
        "figure_query": urlencode({k: v for k, v in query.items() if v}),
        "zoom": urlencode(zoom),
        "facts": facts_table(overview, names),
        "silent": probes_that(overview, names, SILENT),
        "absent": probes_that(overview, names, ABSENT),
        "readings": readings,
        "shown": shown,
    }


def measured_groups(measures: set[str]) -> list[Group]:
    """Return the groups of rows that there is something to draw in."""
    return [
        group
        for group in GROUPS
        if group is OVERVIEW or any(is_drawn(measure, group) for measure in measures)
    ]


def each_choices(measures: set[str]) -> list[tuple[str, str]]:
    """Return the GPUs to choose from: id in addresses, and title."""
    gpus = {match[0] for measure in measures if (match := GPU_OF.match(measure))}
    if len(gpus) <= 1:
        return []
    return [
        (name, gettext(kind.title))
        for name, kind in EACH_GPU.items()
        if any(reading_name(kind, measure) for measure in measures)
    ]


def probes_that(
    overview: RunOverview, stages: list[str], prefixes: tuple[str, ...]
) -> list[tuple[str, str]]:
    """Return the probes with one of these reports, with the report; no duplicates."""
    found: dict[tuple[str, str], None] = {}
    for stage in stages:
        prefix = monitoring_path(stage, PROBES)
        for path, row in overview.facts.items():
            if path.startswith(prefix) and str(row.value).startswith(prefixes):
                found[path.removeprefix(prefix), str(row.value)] = None
    return list(found)


def _zoom(request: PageRequest) -> dict[str, str]:
    """Return the requested range of time as in the address; both ends or none."""
    ends = {name: read_number(request.GET, name) for name in ("low", "high")}
    if None in ends.values():
        return {}
    return {name: request.GET[name] for name in ends}


def facts_table(
    overview: RunOverview, stages: list[str]
) -> list[tuple[str, str, list[Value | None]]]:
    """Return a row of each fact any stage has: its label, its path, a value each."""
    rows = []
    for path, label in FACTS:
        found = [overview.facts.get(monitoring_path(stage, path)) for stage in stages]
        values = [row.value if row else None for row in found]
        if any(value is not None for value in values):
            rows.append((str(label), path, values))
    return rows
