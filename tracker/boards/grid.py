"""Places widgets in a grid of twelve columns, without overlaps and gaps above.

Pure: from positions to positions.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from tracker.boards.board import COLUMNS, Place, Widget


def settled(widgets: Sequence[Widget], moved: str = "") -> tuple[Widget, ...]:
    """Return the widgets in reading order, each moved up as far as possible.

    The moved widget keeps its position; others are pushed down.
    """
    standing: list[Widget] = []
    placed = [replace(each, place=_within(each.place)) for each in widgets]
    for widget in sorted(placed, key=lambda each: _turn(each, moved)):
        place = widget.place
        top = _lowest_free(place, [other.place for other in standing])
        standing.append(replace(widget, place=replace(place, y=top)))
    return tuple(sorted(standing, key=lambda each: (each.place.y, each.place.x)))


def with_widget(widgets: Sequence[Widget], widget: Widget) -> tuple[Widget, ...]:
    """Return the widgets and one more, at the first free position."""
    others = [each.place for each in widgets]
    place = first_free(others, widget.place.width, widget.place.height)
    return settled([*widgets, replace(widget, place=place)])


def first_free(taken: Sequence[Place], width: int, height: int) -> Place:
    """Return the first free position, from the top and from the left."""
    bottom = max((place.y + place.height for place in taken), default=0)
    for y in range(bottom):
        for x in range(COLUMNS - width + 1):
            place = Place(x, y, width, height)
            if not any(overlap(place, other) for other in taken):
                return place
    return Place(0, bottom, width, height)


def overlap(one: Place, other: Place) -> bool:
    return (
        one.x < other.x + other.width
        and other.x < one.x + one.width
        and one.y < other.y + other.height
        and other.y < one.y + one.height
    )


def _turn(widget: Widget, moved: str) -> tuple[int, bool, int]:
    return widget.place.y, widget.id != moved, widget.place.x


def _within(place: Place) -> Place:
    return replace(place, x=min(place.x, COLUMNS - place.width))


def _lowest_free(place: Place, taken: Sequence[Place]) -> int:
    """Return the row below all widgets in the same columns."""
    columns = replace(place, y=0, height=10**6)
    return max(
        (other.y + other.height for other in taken if overlap(columns, other)),
        default=0,
    )
