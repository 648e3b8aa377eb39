"""The interface of a widget kind: settings, form and drawing."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import msgspec
from msgspec import Struct

from tracker.actor import Actor
from tracker.boards.board import RunSet, Widget, checked
from tracker.disclosure import seen_attributes, seen_by, sees_field
from tracker.errors import InvalidInput
from tracker.queries.run.attributes import AttributeRow, attribute_values
from tracker.queries.runs.filter.fields import FieldValue, field_values
from tracker.queries.runs.over_runs import OverRuns, number_over_runs
from tracker.queries.runs.run_sets import ShownRuns, every_match
from web.figures.traces import Figure
from web.pages.charts.chart_options import ChartOptions
from web.texts import gettext_lazy

Options = Sequence[tuple[str, str]]
LONGEST_PROJECT = 20
WITHHELD = gettext_lazy("This content is not shared.")


@dataclass(frozen=True, slots=True)
class Field:
    """One setting in a form.

    `input` is path, paths, columns, choice, line, number, limit, check, text, run or
    ladder; a limit is a number or empty.
    """

    name: str
    label: str
    input: str
    hint: str = ""
    options: Options = ()
    is_required: bool = False
    # The field that may be filled in instead of a required one.
    instead: str = ""
    most: int = 1  # maximum number of paths or columns
    step: str = "any"
    lowest: str = ""
    highest: str = ""
    # Fields of one section follow each other below its title.
    section: str = ""
    # The only kind of attributes that is suggested; "": all.
    of_kind: str = ""
    # Suggestions in addition to paths.
    offered: Sequence[str] = ()

    @property
    def is_list(self) -> bool:
        return self.input in ("paths", "columns")


@dataclass(frozen=True, slots=True)
class Scene:
    """A widget with its runs, and the addresses of its parts."""

    project: Any  # a row of the projects table, which pages do not import
    widget: Widget
    run_set: RunSet
    shown: ShownRuns
    body_url: str
    figure_url: str
    # The address of a picture in its text, by the picture's key.
    picture_url: Callable[[str], str]
    # The address of a file of a run, by the run and the form; None: that of the run.
    medium_url: Callable[[UUID, str], str] | None
    # The reader; tracker/disclosure.py decides which values are visible.
    actor: Actor
    # By a link that was frozen: no runs but these, where a kind finds its own.
    only: frozenset[UUID] | None = None
    # The color of each run, if colors belong to runs.
    slots: Mapping[UUID, int] = field(default_factory=dict)
    # The requested step of media; None: the last.
    at: float | None = None
    # The projects whose runs may be shown: a query of the projects table.
    reach: Any = None

    @property
    def runs(self) -> tuple[Any, ...]:
        return self.shown.runs

    @property
    def names(self) -> dict[UUID, str]:
        """Return the names of the runs, with the project's name for runs of others."""
        return self.names_of(self.runs)

    def names_of(self, runs: Sequence[Any]) -> dict[UUID, str]:
        """Return the names of these runs, next to those of the widget."""
        if all(run.project_id == self.project.id for run in (*self.runs, *runs)):
            return {run.id: run.name for run in runs}
        return {run.id: f"{_short(run.project.name)} / {run.name}" for run in runs}

    def slot(self, place: int) -> int:
        """Return the color of the run at this place."""
        return self.slots.get(self.runs[place].id, place)

    @property
    def is_shared(self) -> bool:
        """Return whether the viewer is a visitor by share link."""
        return self.actor.grant is not None

    def values(self, runs: Sequence[Any], paths: Collection[str]) -> SeenValues:
        """Return these attributes of the runs, as far as the actor may see them."""
        found = attribute_values([run.id for run in runs], paths)
        seen = seen_attributes(self.actor, found)
        present = {path for rows in found.values() for path in rows}
        shown = {path for rows in seen.values() for path in rows}
        return SeenValues(seen, frozenset(present - shown))

    @property
    def has_every_match(self) -> bool:
        """Return whether the runs are the first that match, and not a list of runs."""
        return self.only is None and self.run_set.runs is None

    def over_runs(self, key: str, over: str, reference: UUID | None) -> OverRuns:
        """Return a number over all runs that match, as far as the actor may see it."""
        sets = every_match(self.project, self.run_set, self.reach)
        seen = seen_by(self.actor)
        return number_over_runs(sets, key, over, seen=seen, reference=reference)

    def fields(
        self, runs: Sequence[Any], names: Collection[str]
    ) -> dict[str, list[FieldValue]]:
        """Return these fields of the runs, as far as the actor may see them."""
        seen = [name for name in names if sees_field(self.actor, name)]
        return field_values(runs, seen)


def _short(project: str) -> str:
    """Leave room for the name of the run, where a widget has little."""
    is_short = len(project) <= LONGEST_PROJECT
    return project if is_short else f"{project[: LONGEST_PROJECT - 1]}…"


@dataclass(frozen=True, slots=True)
class SeenValues:
    """Attributes by run and path; `withheld` are the hidden paths."""

    by_run: dict[UUID, dict[str, AttributeRow]]
    withheld: frozenset[str]


@dataclass(frozen=True, slots=True)
class Body:
    """Content of a widget, or `problem`: the reason that it is empty, with advice."""

    template: str = ""
    context: dict[str, Any] = field(default_factory=dict)
    problem: str = ""
    notes: Sequence[str] = ()
    is_live: bool | None = None  # None: as the runs are


@dataclass(frozen=True, slots=True)
class FigureView:
    """A figure, with the runs that it was drawn from."""

    figure: Figure
    is_live: bool


@dataclass(frozen=True, slots=True)
class BestOf:
    """A column of the runs table, and whether its highest or its lowest number counts."""

    key: str
    over: str


@dataclass(frozen=True, slots=True)
class Kind:
    name: str
    label: str
    icon: str
    hint: str
    settings: type[Struct]
    fields: Sequence[Field]
    body: Callable[[Scene, Any], Body]
    width: int = 6
    height: int = 4
    figure: Callable[[Scene, Any, ChartOptions], FigureView] | None = None
    has_runs: bool = True
    is_for_reports: bool = True
    # A title for widgets that were given none, and the paths of attributes it names.
    title: Callable[[Any], str] = lambda _: ""
    paths: Callable[[Any], Sequence[str]] = lambda _: ()
    # Whether the content names the best of all matching runs, which need not be shown.
    best_of: Callable[[Any], BestOf | None] = lambda _: None


def settings_of(kind: Kind, plain: dict[str, Any]) -> dict[str, Any]:
    """Return the settings as they are stored; raise InvalidInput if they are wrong."""
    for each in kind.fields:
        if each.is_required and not (plain.get(each.name) or plain.get(each.instead)):
            raise InvalidInput(each.label, "must not be empty")
        if each.is_list and len(plain.get(each.name, ())) > each.most:
            raise InvalidInput(each.label, f"can have at most {each.most} entries")
        if each.input == "number" and each.name in plain:
            _check_number(each, plain[each.name])
    given = {name: value for name, value in plain.items() if value != ""}
    settings: dict[str, Any] = msgspec.to_builtins(
        checked(given, kind.settings, typed=True)
    )
    return {name: value for name, value in settings.items() if value is not None}


def _check_number(each: Field, value: Any) -> None:
    message = f"must be a number from {each.lowest} to {each.highest}"
    try:
        number = float(value or each.lowest)
    except ValueError as error:
        raise InvalidInput(each.label, message) from error
    if not float(each.lowest) <= number <= float(each.highest):
        raise InvalidInput(each.label, message)
