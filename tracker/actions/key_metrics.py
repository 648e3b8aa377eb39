"""The pinned metrics of a project, shown first on every run."""

from __future__ import annotations

from django.db import transaction

from tracker.errors import InvalidInput
from tracker.models import Project
from tracker.queries.run.attributes import storable

MAX_PINNED = 12
LONGEST_PATH = 1_024


def pin_metric(project: Project, path: str) -> None:
    """Pin a metric after the pinned ones."""
    path = path.strip()
    if not path or len(path) > LONGEST_PATH or not storable([path]):
        raise InvalidInput("path", "must name a metric, such as train/loss")
    with transaction.atomic():
        pinned = _locked(project)
        if path in pinned:
            return
        if len(pinned) >= MAX_PINNED:
            raise InvalidInput(
                "path", f"cannot be pinned; the limit is {MAX_PINNED} metrics"
            )
        _keep(project, [*pinned, path])


def unpin_metric(project: Project, path: str) -> None:
    with transaction.atomic():
        _keep(project, [other for other in _locked(project) if other != path])


def _locked(project: Project) -> list[str]:
    rows = Project.objects.select_for_update(no_key=True).filter(pk=project.pk)
    return list(rows.values_list("key_metrics", flat=True).get())


def _keep(project: Project, pinned: list[str]) -> None:
    project.key_metrics = pinned
    project.save(update_fields=["key_metrics"])
