"""Placement of widgets in a grid of twelve columns."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as some

from tracker.boards.board import COLUMNS, Place, Widget
from tracker.boards.grid import first_free, overlap, settled, with_widget

places = some.builds(
    Place,
    x=some.integers(0, COLUMNS - 1),
    y=some.integers(0, 20),
    width=some.integers(2, COLUMNS),
    height=some.integers(1, 6),
)


def widgets_at(*wanted: Place) -> list[Widget]:
    return [
        Widget(id=f"{number:08x}", kind="text", place=place)
        for number, place in enumerate(wanted)
    ]


def places_of(widgets) -> dict[int, Place]:
    return {int(each.id, 16): each.place for each in widgets}


@given(some.lists(places, max_size=12), some.integers(0, 11))
def test_nothing_lies_over_another_and_nothing_hangs_in_the_air(wanted, moved):
    found = [each.place for each in settled(widgets_at(*wanted), f"{moved:08x}")]

    assert len(found) == len(wanted)
    assert not any(overlap(one, other) for one, other in combinations(found, 2))
    assert all(place.x + place.width <= COLUMNS for place in found)
    for place in found:
        above = Place(place.x, place.y - 1, place.width, place.height)
        assert place.y == 0 or any(
            overlap(above, other) for other in found if other is not place
        )


@given(some.lists(places, max_size=12))
def test_settled_widgets_do_not_move(wanted):
    once = settled(widgets_at(*wanted))

    assert settled(once) == once


def test_the_one_that_was_moved_gets_its_place():
    two = widgets_at(Place(0, 0, 6, 4), Place(6, 0, 6, 4))
    two[1] = Widget(id=two[1].id, kind="text", place=Place(0, 0, 6, 2))

    assert places_of(settled(two, two[1].id)) == {
        1: Place(0, 0, 6, 2),
        0: Place(0, 2, 6, 4),
    }


def test_widgets_move_up_into_gaps():
    below = widgets_at(Place(0, 4, 6, 4))

    assert places_of(settled(below)) == {0: Place(0, 0, 6, 4)}


def test_a_new_one_takes_the_first_room_there_is():
    taken = [Place(0, 0, 6, 4), Place(9, 0, 3, 2)]

    assert first_free(taken, 3, 2) == Place(6, 0, 3, 2)
    assert first_free(taken, 6, 2) == Place(6, 2, 6, 2)
    assert first_free(taken, 12, 2) == Place(0, 4, 12, 2)
    assert first_free([], 4, 1) == Place(0, 0, 4, 1)


def test_many_are_added_side_by_side():
    widgets = []
    for number in range(4):
        made = Widget(id=f"{number:08x}", kind="value", place=Place(0, 0, 3, 2))
        widgets = list(with_widget(widgets, made))

    assert [each.place.x for each in widgets] == [0, 3, 6, 9]
    assert {each.place.y for each in widgets} == {0}
