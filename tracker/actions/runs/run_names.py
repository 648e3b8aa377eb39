"""Renames runs. Scripts that use the old name start a new run."""

from __future__ import annotations

from tracker.actions.names import checked_name, named_once
from tracker.models import Run

MAX_NAME = 255


def rename_run(run: Run, name: str) -> None:
    """Rename a run; raise InvalidInput if the project has a run of that name."""
    name = checked_name(name, MAX_NAME)
    if name == run.name:
        return
    with named_once("another run of this project, perhaps one in the trash"):
        Run.objects.filter(id=run.id).update(name=name)
    run.name = name
