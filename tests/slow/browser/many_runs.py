"""Makes projects of more runs than fit on a screen."""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone

from tracker.models import Project, Run, State


def add_runs(project: Project, count: int) -> list[Run]:
    """Add runs, each of which began a minute before the previous one."""
    now = timezone.now()
    runs = [
        Run(
            project=project,
            name=f"run {number:05}",
            state=State.FINISHED,
            started_at=now - timedelta(minutes=number),
            ended_at=now,
        )
        for number in range(count)
    ]
    Run.objects.bulk_create(runs, batch_size=1_000)
    return runs
