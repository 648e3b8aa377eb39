"""The number of runs of a project, without those in the trash.

Every page of a runs table shows it, and counting very many runs is a notable part of the page's
cost, so large counts are cached briefly.
"""

from __future__ import annotations

import time

from tracker.models import Run
from tracker.server.caches import Memory

MANY = 10_000
LASTS_SECONDS = 5.0
MAX_PROJECTS = 1_000

_counted: Memory[int, tuple[int, float]] = Memory(MAX_PROJECTS)


def run_count(project_id: int) -> int:
    """Return the number of runs; above `MANY`, it may be up to 5 s old."""
    now = time.monotonic()
    counted = _counted.get(project_id)
    if counted is not None and now - counted[1] < LASTS_SECONDS:
        return counted[0]
    count = Run.objects.filter(project_id=project_id).not_in_trash().count()
    if count > MANY:
        _counted.remember(project_id, (count, now), 1)
    return count
