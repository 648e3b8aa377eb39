"""Creates and rearranges ladders."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db import transaction

from tracker.actions.names import checked_name, named_once
from tracker.actions.work import request_works
from tracker.errors import InvalidInput, NotFound
from tracker.models import Ladder, Project, Run, Rung, WorkKind
from tracker.texts import is_storable

NAMED = "a ladder of this project"
NAME_LENGTH = 200
NOTE_LENGTH = 2_000
RUNGS_AT_MOST = 50


@dataclass(frozen=True, slots=True)
class RungRequest:
    """A run, by id or name, and the change made before it."""

    run: str
    note: str = ""


def create_ladder(project: Project, name: str, rungs: Sequence[RungRequest]) -> Ladder:
    """Create a ladder; raise InvalidInput if the name is taken."""
    name = checked_name(name, NAME_LENGTH)
    runs = _find_runs(project, rungs)
    with transaction.atomic():
        with named_once(NAMED):
            ladder = Ladder.objects.create(project=project, name=name)
        _place_rungs(ladder, runs, rungs)
    return ladder


def put_ladder(project: Project, name: str, rungs: Sequence[RungRequest]) -> Ladder:
    """Create the ladder of that name, or replace its steps."""
    name = checked_name(name, NAME_LENGTH)
    runs = _find_runs(project, rungs)
    with transaction.atomic():
        ladder, _ = Ladder.objects.get_or_create(project=project, name=name)
        _place_rungs(ladder, runs, rungs)
    return ladder


def arrange_ladder(ladder: Ladder, name: str, rungs: Sequence[RungRequest]) -> None:
    """Set the name and the ordered steps of a ladder."""
    name = checked_name(name, NAME_LENGTH)
    runs = _find_runs(ladder.project, rungs)
    with transaction.atomic():
        with named_once(NAMED):
            # Not save(), which would recreate a ladder that was deleted concurrently.
            changed = Ladder.objects.filter(id=ladder.id).update(name=name)
        if not changed:
            raise NotFound("ladder")
        _place_rungs(ladder, runs, rungs)
    ladder.name = name


def set_note(ladder: Ladder, run_id: UUID, note: str) -> None:
    """Describe the change made at this run's step, and its reason."""
    if len(note) > NOTE_LENGTH or not is_storable(note):
        raise InvalidInput("note", f"must be text of up to {NOTE_LENGTH} characters")
    if not ladder.rungs.filter(run_id=run_id).update(note=note.strip()):
        raise NotFound("rung")


def _find_runs(project: Project, rungs: Sequence[RungRequest]) -> list[Run]:
    """Return the named runs in order; raise InvalidInput if one is repeated."""
    if not 1 <= len(rungs) <= RUNGS_AT_MOST:
        raise InvalidInput("rungs", f"must be 1 to {RUNGS_AT_MOST} runs")
    if any(len(r.note) > NOTE_LENGTH or not is_storable(r.note) for r in rungs):
        raise InvalidInput("note", f"must be text of up to {NOTE_LENGTH} characters")

    runs = [_find_run(project, rung.run) for rung in rungs]
    if len({run.id for run in runs}) < len(runs):
        raise InvalidInput("rungs", "must name each run once")
    return runs


def _find_run(project: Project, reference: str) -> Run:
    """Return the run by id, else by name."""
    runs = Run.objects.filter(project=project).not_in_trash()
    found = (run_id := _as_id(reference)) and runs.filter(id=run_id).first()
    if not found and is_storable(reference):
        found = runs.filter(name=reference).first()
    if not found:
        raise NotFound("run")
    return found


def _as_id(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


def _with_hidden(placed: Sequence[Rung], before: Iterable[Rung]) -> list[Rung]:
    """Keep trashed runs at their positions, for when they are restored."""
    rungs, shown = list(placed), {rung.run_id for rung in placed}
    below: list[UUID] = []
    for old in before:
        if old.run.trashed_at is not None and old.run_id not in shown:
            on_ladder = [rung.run_id for rung in rungs]
            nearest = next(
                (each for each in reversed(below) if each in on_ladder), None
            )
            place = 0 if nearest is None else on_ladder.index(nearest) + 1
            hidden = Rung(ladder_id=old.ladder_id, run_id=old.run_id, note=old.note)
            rungs.insert(place, hidden)
        below.append(old.run_id)
    return rungs


def _place_rungs(
    ladder: Ladder, runs: Sequence[Run], rungs: Sequence[RungRequest]
) -> None:
    # Replace all steps; with concurrent calls, the last one wins.
    Ladder.objects.select_for_update().get(id=ladder.id)
    placed = [
        Rung(ladder=ladder, run=run, note=rung.note.strip())
        for run, rung in zip(runs, rungs, strict=True)
    ]
    placed = _with_hidden(placed, ladder.rungs.select_related("run"))
    ladder.rungs.all().delete()
    for position, rung in enumerate(placed):
        rung.position = position
    Rung.objects.bulk_create(placed)
    # A rule compares each run with the previous step, which may have changed.
    request_works([run.id for run in runs], WorkKind.DIAGNOSE)
