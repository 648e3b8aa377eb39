"""Reads the step times of the last runs with the same name, for the rule that compares them.

Names of runs are unique in a project, so users add numbers or dates: `nightly-12` repeats
`nightly-11`. Only runs with the same hardware and parameters count; the code may differ, since
the rule looks for changes that made a run slower.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from tracker.diagnosis.breakdown.step import BLOCK_STEPS, FEWEST_BLOCKS
from tracker.diagnosis.signals import EarlierRun
from tracker.models import Attribute, Diagnosis, Stage, State
from tracker.queries.run.attributes import attribute_values
from tracker.queries.run.namespaces import MONITORING, monitoring_path

HARDWARE = (
    "facts/gpu/0/name",
    "facts/gpu_count",
    "facts/effective_cores",
    "facts/host_cores",
    "facts/distributed/world_size",
    "facts/batch_size",
)
# Numbers, dates and times at the end of a name.
NUMBER = re.compile(r"(?<=.)[\s._#-]*\d[\d\s._:T-]*Z?$")

# The newest runs with that name.
MAX_CANDIDATES = 20
MAX_RUNS = 5
# A run with fewer steps has no median to compare with.
FEWEST_STEPS = FEWEST_BLOCKS * BLOCK_STEPS


def read_same_name_runs(stage: Stage) -> EarlierRun | None:
    """Return the median step times of the last runs with equal settings."""
    found = _candidates(stage)
    if not found:
        return None
    run_ids = [stage.run_id, *found]
    hardware, parameters = _hardware(run_ids, stage.name), _parameters(run_ids)
    alike = [
        run_id
        for run_id in found
        if hardware[run_id] == hardware[stage.run_id]
        and parameters.get(run_id) == parameters.get(stage.run_id)
    ][:MAX_RUNS]
    if not alike:
        return None
    medians = tuple(found[run_id] for run_id in alike)
    return EarlierRun(
        name=stem_of(stage.run.name),
        step_seconds=sorted(medians)[len(medians) // 2],
        medians=medians,
    )


def stem_of(name: str) -> str:
    """Return a run's name without the number or date at its end."""
    return NUMBER.sub("", name)


def _candidates(stage: Stage) -> dict[UUID, float]:
    """Return median step times of earlier runs with the name, the newest first."""
    stem = stem_of(stage.run.name)
    earlier = Diagnosis.objects.filter(
        run__project_id=stage.run.project_id,
        run__name__startswith=stem,
        run__trashed_at=None,
        run__state=State.FINISHED,
        stage__name=stage.name,
        is_final=True,
        step_count__gte=FEWEST_STEPS,
        median_step_seconds__gt=0,
    ).exclude(run_id=stage.run_id)
    if stage.started_at is not None:
        earlier = earlier.filter(stage__started_at__lt=stage.started_at)
    newest = earlier.order_by("-stage__started_at", "-id")[:MAX_CANDIDATES]
    return {
        run_id: float(median or 0.0)
        for run_id, name, median in newest.values_list(
            "run_id", "run__name", "median_step_seconds"
        )
        if stem_of(name) == stem
    }


# Any: single values of attributes.
def _hardware(run_ids: Sequence[UUID], stage: str) -> dict[UUID, dict[str, Any]]:
    paths = [monitoring_path(stage, path) for path in HARDWARE]
    return {
        run_id: {path: row.value for path, row in rows.items()}
        for run_id, rows in attribute_values(run_ids, paths).items()
    }


def _parameters(run_ids: Sequence[UUID]) -> dict[UUID, set[tuple[Any, ...]]]:
    rows = Attribute.objects.filter(run_id__in=run_ids, is_parameter=True).exclude(
        path__startswith=MONITORING
    )
    found: dict[UUID, set[tuple[Any, ...]]] = {}
    for run_id, *parameter in rows.values_list("run_id", "path", "number", "text"):
        found.setdefault(run_id, set()).add(tuple(parameter))
    return found
