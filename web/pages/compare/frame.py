"""The shared context of a comparison's parts: project, runs and options."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from tracker.access.projects import comparable_project
from tracker.access.runs import comparable_runs
from tracker.actor import Actor, Part
from tracker.queries.run.run import may_go_on, may_resume, silent_for
from web.figures.traces import RUN_COLOURS, run_round
from web.pages.compare.state import (
    SHARED_TABS,
    TABS,
    TABS_OF_VALUES,
    CompareState,
    read_state,
)
from web.session import PageRequest
from web.texts import gettext_lazy

# Names of the run colors in the order of slots, for both themes.
COLOUR_NAMES = (
    gettext_lazy("Blue"),
    gettext_lazy("Orange"),
    gettext_lazy("Green"),
    gettext_lazy("Violet"),
    gettext_lazy("Rose"),
    gettext_lazy("Teal"),
    gettext_lazy("Ocher"),
    gettext_lazy("Indigo"),
    gettext_lazy("Olive"),
    gettext_lazy("Plum"),
)


@dataclass(frozen=True, slots=True)
class ComparedRun:
    """A run of the comparison with its color and dash."""

    run: Any  # a row of the runs table; pages do not import tables
    slot: int
    is_hidden: bool
    is_reference: bool
    # Name of the run's project, if the runs are of several projects.
    project: str = ""
    look: str = ""  # suffix of the swatch's CSS class, if colors mean values
    group: int | None = None  # the index of its line, if one line shows several runs

    @property
    def name(self) -> str:
        """Return a one-line description that distinguishes the run."""
        return named_in(self.project, self.run.name)

    @property
    def colour(self) -> str:
        return self.look or str(self._line % RUN_COLOURS)

    @property
    def silent_for(self) -> timedelta | None:
        return silent_for(self.run)

    @property
    def round(self) -> int:
        """Return which it is of the runs that share its colour."""
        return 0 if self.look else run_round(self._line)

    @property
    def _line(self) -> int:
        return self.slot if self.group is None else self.group


@dataclass(frozen=True, slots=True)
class Comparison:
    """The requested comparison, limited to the runs that exist."""

    project: Any  # likewise
    state: CompareState
    everyone: list[ComparedRun]
    missing: list[str]
    actor: Actor

    @property
    def shown(self) -> list[ComparedRun]:
        return [each for each in self.everyone if not each.is_hidden]

    @property
    def runs(self) -> list[Any]:
        return [each.run for each in self.shown]

    @property
    def names(self) -> list[str]:
        return [each.name for each in self.shown]

    @property
    def is_across(self) -> bool:
        """Return whether runs of other projects than the page's are compared."""
        return any(each.project for each in self.everyone)

    @property
    def slots(self) -> list[int]:
        return [each.slot for each in self.shown]

    @property
    def reference_position(self) -> int:
        """Return the place of the reference among the runs that are shown."""
        flags = [each.is_reference for each in self.shown]
        return flags.index(True) if True in flags else 0

    @property
    def is_live(self) -> bool:
        return any(may_go_on(run) for run in self.runs)

    @property
    def may_resume(self) -> bool:
        return any(may_resume(run) for run in self.runs)


def named_in(project: str, name: str) -> str:
    """Name a run among those of other projects; "" of a project: it goes without."""
    return f"{project} / {name}" if project else name


def open_tabs(actor: Actor) -> dict[str, str]:
    """Return the tabs that the actor may open; tabs with values need a permission."""
    if actor.grant is None:
        return TABS
    values = TABS_OF_VALUES if actor.sees(Part.CONFIG) else ()
    shared = {*SHARED_TABS, *values}
    return {name: label for name, label in TABS.items() if name in shared}


def read_comparison(request: PageRequest, workspace: str, project: str) -> Comparison:
    found = comparable_project(request.actor, workspace, project)
    state = read_state(request.GET)
    if request.actor.grant is not None:
        state = state.as_shared(
            open_tabs(request.actor), with_values=request.actor.sees(Part.CONFIG)
        )
    runs = comparable_runs(request.actor, found, list(state.runs))
    ids = [run.id for run in runs]
    # Absent and forbidden look the same here, too.
    missing = [str(run_id) for run_id in state.runs if run_id not in ids]
    state = state.of_only(ids)
    slots = state.slot_of
    visible = [run.id for run in runs if slots[run.id] not in state.hidden]
    reference = state.reference if state.reference in visible else None
    if reference is None and visible:
        reference = visible[0]
    is_across = any(run.project_id != found.id for run in runs)
    everyone = [
        ComparedRun(
            run,
            slots[run.id],
            is_hidden=slots[run.id] in state.hidden,
            is_reference=run.id == reference,
            project=run.project.name if is_across else "",
        )
        for run in runs
    ]
    missing = [*missing, *state.unreadable]
    return Comparison(found, state, everyone, missing, request.actor)
