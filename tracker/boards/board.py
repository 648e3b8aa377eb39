"""A dashboard's content: widgets in a grid, and their runs (pure).

Settings of a widget are validated by its kind, in web/widgets; here they are only
limited in size.
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
# The most recently removed widgets, which can be restored.
MAX_REMOVED = 10
MAX_RUNS = 100
# A widget queries each of its projects.
MAX_PROJECTS = 10
COLUMNS = 12
MAX_ROWS, LOWEST_ROW = 24, 1_000
TITLE_LENGTH = 200
TEXT_LENGTH = 20_000
MAX_BYTES = 256 * 1024

Text = Annotated[str, Meta(max_length=TEXT_LENGTH)]
# A form value; each kind of widget interprets its own.
Setting = bool | int | float | Text | Annotated[list[Text], Meta(max_length=MAX_RUNS)]
Slug = Annotated[str, Meta(pattern="^[-a-zA-Z0-9_]{1,200}$")]
Settings = Annotated[dict[str, Setting], Meta(max_length=40)]


class RunSet(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A list of runs, the first of a saved view, or the matches of a query.

    Listed runs may belong to any project of the workspace. A query applies to the
    projects named by slug, or to the dashboard's own. A view has its own query and
    order.
    """

    runs: Annotated[tuple[UUID, ...], Meta(max_length=MAX_RUNS)] | None = None
    view: UUID | None = None
    query: Annotated[str, Meta(max_length=2_000)] = ""
    projects: Annotated[tuple[Slug, ...], Meta(max_length=MAX_PROJECTS)] = ()
    order: Annotated[str, Meta(max_length=1_100)] = "-started"
    first: Annotated[int, Meta(ge=1, le=MAX_RUNS)] = 10


class Place(Struct, frozen=True):
    """A widget's first column and row, and its size."""

    x: Annotated[int, Meta(ge=0, lt=COLUMNS)] = 0
    y: Annotated[int, Meta(ge=0, le=LOWEST_ROW)] = 0
    width: Annotated[int, Meta(ge=2, le=COLUMNS)] = 6
    height: Annotated[int, Meta(ge=1, le=MAX_ROWS)] = 4


class Widget(Struct, frozen=True, kw_only=True):
    """A widget. Without its own run set it uses the dashboard's."""

    id: Annotated[str, Meta(pattern="^[0-9a-f]{8}$")]
    kind: Annotated[str, Meta(max_length=20)]
    title: Annotated[str, Meta(max_length=TITLE_LENGTH)] = ""
    place: Place = Place()
    run_set: RunSet | None = None
    settings: Settings = {}


class Board(Struct, frozen=True, kw_only=True):
    """The content of a dashboard, without its name."""

    run_set: RunSet = RunSet()
    widgets: Annotated[tuple[Widget, ...], Meta(max_length=MAX_WIDGETS)] = ()
    removed: Annotated[tuple[Widget, ...], Meta(max_length=MAX_REMOVED)] = ()

    def widget(self, widget_id: str) -> Widget | None:
        return next((each for each in self.widgets if each.id == widget_id), None)


def new_id() -> str:
    """Return a random id that no other widget is likely to have."""
    return secrets.token_hex(4)


def board_from(stored: Any) -> Board:
    """Parse the stored content."""
    return msgspec.convert(stored, Board)


def stored(board: Board) -> Any:
    """Return the content as JSON; raise InvalidInput if it exceeds a limit."""
    plain = msgspec.to_builtins(board)
    if not all(is_storable(text) for text in _texts(plain)):
        raise InvalidInput("the dashboard", "contains characters that cannot be stored")
    checked(plain, Board)
    if len({widget.id for widget in board.widgets}) < len(board.widgets):
        raise InvalidInput("widgets", "must each have an id of their own")
    if len(msgspec.json.encode(plain)) > MAX_BYTES:
        raise TooLarge("A dashboard", f"{MAX_BYTES // 1024} KiB")
    return plain


Checked = TypeVar("Checked")


def checked(plain: Any, kind: type[Checked], *, typed: bool = False) -> Checked:
    """Return the value as this type; raise InvalidInput if it does not match.

    With `typed`, numbers are parsed from text.
    """
    try:
        return msgspec.convert(plain, kind, strict=not typed)
    except msgspec.ValidationError as error:
        reason, _, where = str(error).partition(" - at `$")
        field = where.strip("`. ").replace("[...]", "") or "the value"
        problem = reason[:1].lower() + reason[1:]
        raise InvalidInput(field, f"is invalid: {problem}") from error


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
