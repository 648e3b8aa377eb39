"""Makes, rearranges and deletes ladders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, count
from uuid import UUID

from django.db import IntegrityError, transaction
from django.utils import timezone

from tracker.actions.shares import end_links
from tracker.actions.work import request_works
from tracker.errors import InvalidInput, NotFound
from tracker.models import Ladder, Project, Run, Rung, WorkKind

NAME_LENGTH = 200
NOTE_LENGTH = 2_000
RUNGS_AT_MOST = 50
ROOM_FOR_NUMBER = 8


@dataclass(frozen=True, slots=True)
class WantedRung:
    """A run, named by its id or its name, and what was changed before it."""

    run: str
    note: str = ""


def create_ladder(project: Project, name: str, rungs: Sequence[WantedRung]) -> Ladder:
    """Make a ladder, unless the project already has one of that name."""
    ladder = Ladder(project=project, name=_checked_name(name))
    runs = _find_runs(project, rungs)
    with transaction.atomic():
        _save(ladder)
        _place_rungs(ladder, runs, rungs)
    return ladder


def put_ladder(project: Project, name: str, rungs: Sequence[WantedRung]) -> Ladder:
    """Make the ladder of that name, or give the one that exists these rungs."""
    name = _checked_name(name)
    runs = _find_runs(project, rungs)
    with transaction.atomic():
        ladder, _ = Ladder.objects.get_or_create(project=project, name=name)
        _place_rungs(ladder, runs, rungs)
    return ladder


def arrange_ladder(ladder: Ladder, name: str, rungs: Sequence[WantedRung]) -> None:
    """Give a ladder this name and these rungs, in this order."""
    ladder.name = _checked_name(name)
    runs = _find_runs(ladder.project, rungs)
    with transaction.atomic():
        _save(ladder)
        _place_rungs(ladder, runs, rungs)


def make_ladder(project: Project, name: str, rungs: Sequence[WantedRung]) -> Ladder:
    """Make a ladder; a name that another one has gets a number: faster 2."""
    name = _checked_name(name)[: NAME_LENGTH - ROOM_FOR_NUMBER]
    taken = set(
        Ladder.objects.filter(project=project, name__startswith=name).values_list(
            "name", flat=True
        )
    )
    numbered = (f"{name} {number}" for number in count(2))
    free = next(each for each in chain([name], numbered) if each not in taken)
    return create_ladder(project, free, rungs)


def set_note(ladder: Ladder, run_id: UUID, note: str) -> None:
    """Say what was changed on the rung of this run, and why."""
    if len(note) > NOTE_LENGTH or not _is_storable(note):
        raise InvalidInput("note", f"must be text of up to {NOTE_LENGTH} characters")
    if not ladder.rungs.filter(run_id=run_id).update(note=note.strip()):
        raise NotFound("rung")


def delete_ladder(ladder: Ladder) -> None:
    """Delete a ladder; its runs stay."""
    with transaction.atomic():
        end_links("ladder", [ladder.id], timezone.now())
        ladder.delete()


def _checked_name(name: str) -> str:
    name = name.strip()
    if not 1 <= len(name) <= NAME_LENGTH or not _is_storable(name):
        raise InvalidInput("name", f"must be text of 1 to {NAME_LENGTH} characters")
    return name


def _is_storable(text: str) -> bool:
    # PostgreSQL refuses NUL, and no encoding holds half a surrogate pair.
    return "\0" not in text and not any("\ud800" <= c <= "\udfff" for c in text)


def _save(ladder: Ladder) -> None:
    try:
        with transaction.atomic():
            ladder.save()
    except IntegrityError as error:
        raise InvalidInput(
            "name", "is already the name of a ladder of this project"
        ) from error


def _find_runs(project: Project, rungs: Sequence[WantedRung]) -> list[Run]:
    """Return the runs that are meant, in order; each may be there once."""
    if not 1 <= len(rungs) <= RUNGS_AT_MOST:
        raise InvalidInput("rungs", f"must be 1 to {RUNGS_AT_MOST} runs")
    if any(len(r.note) > NOTE_LENGTH or not _is_storable(r.note) for r in rungs):
        raise InvalidInput("note", f"must be text of up to {NOTE_LENGTH} characters")

    runs = [_find_run(project, rung.run) for rung in rungs]
    if len({run.id for run in runs}) < len(runs):
        raise InvalidInput("rungs", "must name each run once")
    return runs


def _find_run(project: Project, wanted: str) -> Run:
    """A run may be named like the id of another; the id wins."""
    runs = Run.objects.filter(project=project).not_in_trash()
    found = (run_id := _as_id(wanted)) and runs.filter(id=run_id).first()
    if not found and _is_storable(wanted):
        found = runs.filter(name=wanted).first()
    if not found:
        raise NotFound("run")
    return found


def _as_id(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


def _place_rungs(
    ladder: Ladder, runs: Sequence[Run], rungs: Sequence[WantedRung]
) -> None:
    # Two people may save at once; the later one's rungs stay, all of them.
    Ladder.objects.select_for_update().get(id=ladder.id)
    ladder.rungs.all().delete()
    Rung.objects.bulk_create(
        Rung(ladder=ladder, run=run, position=position, note=rung.note.strip())
        for position, (run, rung) in enumerate(zip(runs, rungs, strict=True))
    )
    # A rule compares each with the rung before, which may be another one now.
    request_works([run.id for run in runs], WorkKind.DIAGNOSE)
