"""The form that makes or changes a ladder; rows move before anything is saved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import zip_longest
from typing import Any
from uuid import UUID

from django.http import QueryDict
from django.utils.translation import gettext

from tracker.access.runs import runs_of
from tracker.actions.ladders import RUNGS_AT_MOST, RungRequest
from tracker.queries.compare.comparison import find_runs, run_named
from tracker.queries.ladders.candidates import by_time, runs_with_tag
from tracker.queries.run.run import silent_for
from web.pages.compare.state import as_id, read_ids

SAVE, BY_TIME = "save", "by-time"
SUGGESTIONS = 30
# Maximum length of a run's name in the suggested name of a ladder.
LONGEST_END = 80


@dataclass(frozen=True, slots=True)
class FormRow:
    run_id: UUID
    run_name: str
    state: str
    silent_for: timedelta | None  # None: not running, or recently active
    note: str


@dataclass(frozen=True, slots=True)
class LadderForm:
    """The submitted form; `is_ready` once Save was pressed."""

    name: str
    rows: tuple[FormRow, ...]
    error: str = ""
    is_ready: bool = False

    @property
    def requests(self) -> list[RungRequest]:
        return [RungRequest(str(row.run_id), row.note) for row in self.rows]

    def refused(self, why: str) -> LadderForm:
        return replace(self, error=why, is_ready=False)


# Any: a row of the projects table, which pages do not import.
def read_form(posted: QueryDict, project: Any) -> LadderForm:
    """Parse the form, and apply the pressed button to its rows."""
    # Links with runs have no notes yet.
    pairs = zip_longest(posted.getlist("run"), posted.getlist("note"), fillvalue="")
    steps = [(run_id, note) for text, note in pairs if (run_id := as_id(text))]
    rows = rows_of(project, steps[:RUNGS_AT_MOST])
    form = LadderForm(name=posted.get("name", ""), rows=rows)

    button, _, run = posted.get("do", SAVE).partition(":")
    if button == "add":
        return _with_run(form, posted.get("add", "").strip(), project)
    if button == SAVE:
        return replace(form, is_ready=True)
    if button == BY_TIME:
        order = by_time(project.id, [row.run_id for row in form.rows])
        ordered = sorted(form.rows, key=lambda row: order.index(row.run_id))
        return replace(form, rows=tuple(ordered))
    return replace(form, rows=moved(form.rows, as_id(run), button))


@dataclass(frozen=True, slots=True)
class Start:
    """The runs a ladder begins with; `left_out` are beyond the most it may have."""

    run_ids: list[UUID]
    name: str = ""
    left_out: int = 0


def read_start(query: QueryDict, project: Any) -> Start:
    """Read which runs are meant: those of a tag, or those named one by one."""
    if tag := query.get("tag", "").strip():
        ids, left_out = runs_with_tag(project.id, tag, limit=RUNGS_AT_MOST)
        return Start(ids, tag, left_out)
    ids = read_ids(query.get("runs", ""))
    return Start(ids[:RUNGS_AT_MOST], left_out=max(0, len(ids) - RUNGS_AT_MOST))


def usual_name(rows: Sequence[FormRow]) -> str:
    """Name a ladder by its two ends."""
    if not rows:
        return ""
    first, last = (_shortened(row.run_name) for row in (rows[0], rows[-1]))
    if len(rows) == 1:
        return first
    return gettext("%(first)s to %(last)s") % {"first": first, "last": last}


def _shortened(name: str) -> str:
    return name if len(name) <= LONGEST_END else f"{name[: LONGEST_END - 1]}…"


def rows_of(project: Any, steps: Sequence[tuple[UUID, str]]) -> tuple[FormRow, ...]:
    """Name the runs; those that are not there to be read are left out."""
    notes = dict(steps)
    return tuple(
        FormRow(run.id, run.name, run.state, silent_for(run), notes[run.id])
        for run in runs_of(project, list(notes))
    )


def moved(
    rows: tuple[FormRow, ...], run_id: UUID | None, where: str
) -> tuple[FormRow, ...]:
    """Move a row up or down by one, or remove it; ignore other values."""
    found = [index for index, row in enumerate(rows) if row.run_id == run_id]
    if not found:
        return rows
    index, others = found[0], [row for row in rows if row.run_id != run_id]
    if where == "remove":
        return tuple(others)
    target = {"up": max(0, index - 1), "down": index + 1}.get(where, index)
    return (*others[:target], rows[index], *others[target:])


def suggested_runs(project: Any, form: LadderForm) -> list[str]:
    without = [row.run_id for row in form.rows]
    runs = find_runs(project.id, "", without=without, limit=SUGGESTIONS)
    return [run.name for run in runs]


def _with_run(form: LadderForm, name: str, project: Any) -> LadderForm:
    run_id = as_id(name) or run_named(project.id, name)
    added = rows_of(project, [(run_id, "")]) if run_id else ()
    if not added:
        return form.refused(gettext("Run not found, or you cannot access it."))
    if added[0].run_id in {row.run_id for row in form.rows}:
        return form.refused(gettext("This run is already on the ladder."))
    return replace(form, rows=(*form.rows, *added))
