"""Share links to the current state of a ladder, with the pages of its runs."""

from __future__ import annotations

from collections.abc import Collection
from uuid import UUID

from django.urls import reverse

from tracker.errors import NotFound
from tracker.models import Ladder, Project, Rung
from tracker.shares.kind import Chosen, Kind, Shared, as_id, things_of


def choose(project: Project, of: str) -> Chosen:
    ladder = Ladder.objects.filter(project=project, id=as_id(of, "ladder")).first()
    if ladder is None:
        raise NotFound("ladder")
    return Chosen(str(ladder.id))


def read(project: Project, chosen: Collection[Chosen]) -> dict[str, Shared]:
    ladders = Ladder.objects.filter(project=project, id__in=things_of(chosen))
    names = dict(ladders.values_list("id", "name"))
    runs: dict[UUID, set[UUID]] = {ladder_id: set() for ladder_id in names}
    rungs = Rung.objects.shown().filter(ladder_id__in=names)
    for ladder_id, run_id in rungs.values_list("ladder_id", "run_id"):
        runs[ladder_id].add(run_id)
    return {
        str(ladder_id): Shared(
            name,
            {"ladder": frozenset({ladder_id}), "run": frozenset(runs[ladder_id])},
        )
        for ladder_id, name in names.items()
    }


def address(_project: Project, shared: Shared, _query: str) -> str:
    (ladder_id,) = shared.things["ladder"]
    return reverse("ladder", args=[ladder_id])


LADDER = Kind(
    name="ladder",
    noun="ladder",
    contents="The current ladder, including runs that are added later, and the pages of"
    " its runs.",
    choose=choose,
    read=read,
    address=address,
)
