"""What a dashboard holds: widgets in a grid, and the runs that they are about (pure).

Settings of a widget are checked by its kind, in web/widgets; here they are bounded.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, TypeVar
from uuid import UUID

import msgspec
from msgspec import Meta, Struct

from tracker.errors import InvalidInput, TooLarge
from tracker.texts import is_storable

MAX_WIDGETS = 40
# Those that were removed last can be put back.
MAX_REMOVED = 10
MAX_RUNS = 100
# What a widget shows is looked up in each of its projects.
MAX_PROJECTS = 10
COLUMNS = 12
MAX_ROWS, LOWEST_ROW = 24, 1_000
TITLE_LENGTH = 200
TEXT_LENGTH = 20_000
MAX_BYTES = 256 * 1024

Text = Annotated[str, Meta(max_length=TEXT_LENGTH)]
# What a form can say; each kind of widget knows which of it is meant.
Setting = bool | int | float | Text | Annotated[list[Text], Meta(max_length=MAX_RUNS)]
Slug = Annotated[str, Meta(pattern="^[-a-zA-Z0-9_]{1,200}$")]
Settings = Annotated[dict[str, Setting], Meta(max_length=40)]


class RunSet(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The runs named one by one, or the first of a saved view, or those a query finds.

    Runs that are named are of any project of the workspace. A query finds the first of
    each project that is named as addresses have it; of none, of the dashboard's own.
    A view says by itself which runs it is about, and in which order they stand.
    """

    runs: Annotated[tuple[UUID, ...], Meta(max_length=MAX_RUNS)] | None = None
    view: UUID | None = None
    query: Annotated[str, Meta(max_length=2_000)] = ""
    projects: Annotated[tuple[Slug, ...], Meta(max_length=MAX_PROJECTS)] = ()
    order: Annotated[str, Meta(max_length=1_100)] = "-started"
    first: Annotated[int, Meta(ge=1, le=MAX_RUNS)] = 10


class Place(Struct, frozen=True):
    """Where a widget stands: its first column and row, and how many of each it takes."""

    x: Annotated[int, Meta(ge=0, lt=COLUMNS)] = 0
    y: Annotated[int, Meta(ge=0, le=LOWEST_ROW)] = 0
    width: Annotated[int, Meta(ge=2, le=COLUMNS)] = 6
    height: Annotated[int, Meta(ge=1, le=MAX_ROWS)] = 4


class Widget(Struct, frozen=True, kw_only=True):
    """One thing to see. Without runs of its own it is about the dashboard's."""

    id: Annotated[str, Meta(pattern="^[0-9a-f]{8}$")]
    kind: Annotated[str, Meta(max_length=20)]
    title: Annotated[str, Meta(max_length=TITLE_LENGTH)] = ""
    place: Place = Place()
    run_set: RunSet | None = None
    settings: Settings = {}


class Board(Struct, frozen=True, kw_only=True):
    """Everything of a dashboard but its name."""

    run_set: RunSet = RunSet()
    widgets: Annotated[tuple[Widget, ...], Meta(max_length=MAX_WIDGETS)] = ()
    removed: Annotated[tuple[Widget, ...], Meta(max_length=MAX_REMOVED)] = ()

    def widget(self, widget_id: str) -> Widget | None:
        return next((each for each in self.widgets if each.id == widget_id), None)


def new_id() -> str:
    """Return an id that no other widget has, as good as certainly."""
    return secrets.token_hex(4)


def board_from(stored: Any) -> Board:
    """Read what was stored."""
    return msgspec.convert(stored, Board)


def stored(board: Board) -> Any:
    """Return what JSON can hold of it; raise InvalidInput if it breaks a bound."""
    plain = msgspec.to_builtins(board)
    if not all(is_storable(text) for text in _texts(plain)):
        raise InvalidInput("the dashboard", "holds characters that no text may hold")
    checked(plain, Board)
    if len({widget.id for widget in board.widgets}) < len(board.widgets):
        raise InvalidInput("widgets", "must each have an id of their own")
    if len(msgspec.json.encode(plain)) > MAX_BYTES:
        raise TooLarge("A dashboard", f"{MAX_BYTES // 1024} KiB")
    return plain


Checked = TypeVar("Checked")


def checked(plain: Any, kind: type[Checked], *, typed: bool = False) -> Checked:
    """Return the value of this type; raise InvalidInput if it is none.

    What was typed is text, in which numbers are read.
    """
    try:
        return msgspec.convert(plain, kind, strict=not typed)
    except msgspec.ValidationError as error:
        said, _, where = str(error).partition(" - at `$")
        field = where.strip("`. ").replace("[...]", "") or "the value"
        wanted = said[:1].lower() + said[1:]
        raise InvalidInput(field, f"is not right: {wanted}") from error


def _texts(plain: Any) -> Iterator[str]:
    if isinstance(plain, str):
        yield plain
    elif isinstance(plain, dict):
        for name, value in plain.items():
            yield name
            yield from _texts(value)
    elif isinstance(plain, Sequence):
        for item in plain:
            yield from _texts(item)
