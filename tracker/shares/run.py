"""Share links to a run, with all pages that the link enables."""

from __future__ import annotations

from collections.abc import Collection

from django.urls import reverse

from tracker.errors import NotFound
from tracker.models import Project, Run
from tracker.shares.kind import Chosen, Kind, Shared, as_id, things_of


def choose(project: Project, of: str) -> Chosen:
    runs = Run.objects.not_in_trash().filter(project=project, id=as_id(of, "run"))
    run = runs.first()
    if run is None:
        raise NotFound("run")
    return Chosen(str(run.id))


def read(project: Project, chosen: Collection[Chosen]) -> dict[str, Shared]:
    runs = Run.objects.not_in_trash().filter(project=project, id__in=things_of(chosen))
    return {
        str(run_id): Shared(name, {"run": frozenset({run_id})})
        for run_id, name in runs.values_list("id", "name")
    }


def address(_project: Project, shared: Shared, _query: str) -> str:
    (run_id,) = shared.things["run"]
    return reverse("run", args=[run_id])


RUN = Kind(
    name="run",
    noun="run",
    contents="All pages of the run, including data that it logs later.",
    choose=choose,
    read=read,
    address=address,
)
