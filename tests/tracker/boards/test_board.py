"""Limits and validation of dashboards."""

from __future__ import annotations

from uuid import uuid4

import pytest

from tracker.boards.board import (
    MAX_WIDGETS,
    Board,
    Place,
    RunSet,
    Widget,
    board_from,
    checked,
    new_id,
    stored,
)
from tracker.errors import InvalidInput, TooLarge


def widget(**changes) -> Widget:
    return Widget(**{"id": new_id(), "kind": "chart", **changes})


def test_a_stored_board_is_read_back_unchanged():
    board = Board(
        run_set=RunSet(query="state = finished", order="-path:train/loss", first=3),
        widgets=(
            widget(
                title="Größe 🐚",
                place=Place(3, 2, 4, 5),
                run_set=RunSet(runs=(uuid4(), uuid4())),
                settings={
                    "metrics": ["train/loss", "1"],
                    "log": True,
                    "smoothing": 0.5,
                    "text": "1",
                },
            ),
        ),
        removed=(widget(),),
    )

    assert board_from(stored(board)) == board


def test_nothing_stored_is_an_empty_dashboard():
    assert board_from({}) == Board()


BROKEN = {
    "too many widgets": Board(widgets=tuple(widget() for _ in range(MAX_WIDGETS + 1))),
    "the same id twice": Board(widgets=(widget(id="0" * 8), widget(id="0" * 8))),
    "an id that is none": Board(widgets=(widget(id="../../etc"),)),
    "a title too long": Board(widgets=(widget(title="x" * 201),)),
    "beside the grid": Board(widgets=(widget(place=Place(12, 0, 6, 4)),)),
    "too wide": Board(widgets=(widget(place=Place(0, 0, 13, 4)),)),
    "no run at all": Board(run_set=RunSet(first=0)),
    "too many runs": Board(run_set=RunSet(first=101)),
    "a zero byte": Board(widgets=(widget(title="a\0b"),)),
    "half a character": Board(widgets=(widget(settings={"text": "\ud800"}),)),
    "half a character in a list": Board(
        widgets=(widget(settings={"metrics": ["\udfff"]}),)
    ),
    "a structure": Board(widgets=(widget(settings={"a": {"b": 1}}),)),
}


@pytest.mark.parametrize("board", BROKEN.values(), ids=BROKEN)
def test_a_board_beyond_its_bounds_is_refused(board):
    with pytest.raises(InvalidInput):
        stored(board)


def test_all_of_it_is_bounded():
    many = [widget(settings={"text": "x" * 19_000}) for _ in range(MAX_WIDGETS)]

    with pytest.raises(TooLarge):
        stored(Board(widgets=tuple(many)))


def test_a_refusal_names_the_field():
    with pytest.raises(InvalidInput, match="first is invalid") as refusal:
        checked({"first": "many"}, RunSet)

    assert refusal.value.field == "first"


def test_typed_numbers_are_converted():
    assert checked({"x": "1", "width": "3"}, Place, typed=True) == Place(1, 0, 3, 4)
