"""The frozen content of a share link."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import uuid4

import pytest

from tracker.boards.board import Board, RunSet, Widget
from tracker.boards.frozen import Frozen, frozen_from, plain
from tracker.errors import InvalidInput

RUN, RUNG = uuid4(), uuid4()
FROZEN = Frozen(
    name="overview",
    saved_at=datetime(2026, 1, 1, tzinfo=UTC),
    runs={"aaaaaaaa": (RUN,), "bbbbbbbb": (RUN, RUNG)},
    board=Board(
        run_set=RunSet(query="state = finished"),
        widgets=(Widget(id="aaaaaaaa", kind="chart"),),
    ),
)


def test_a_stored_frozen_board_is_read_back_unchanged():
    assert frozen_from(plain(FROZEN)) == FROZEN


def test_a_widget_has_the_runs_it_had_and_any_other_none():
    assert FROZEN.run_set("aaaaaaaa") == RunSet(runs=(RUN,))
    assert FROZEN.run_set("cccccccc") == RunSet(runs=())
    assert FROZEN.run_ids == {RUN, RUNG}


@pytest.mark.parametrize("stored", [{}, [], {**plain(FROZEN), "runs": {"a": ["x"]}}])
def test_an_invalid_frozen_board_is_refused(stored):
    with pytest.raises(InvalidInput):
        frozen_from(stored)
