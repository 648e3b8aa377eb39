"""The charts of a page as cards, in the sections that their reader made."""

from web.chart_arrangement import Arrangement
from web.chart_cards import card_sections, first_of
from web.divided_runs import Part

PATHS = ("infer/latency", "train/loss", "val/loss")
PARTS = (Part("adam", (0,)), Part("sgd", (1, 2)))
JOINED = ("train/loss", "val/loss")


def names(sections):
    return {section.name: [card.name for card in section.cards] for section in sections}


def test_what_is_pinned_and_joined_stands_before_the_namespaces():
    arrangement = Arrangement(pinned=(("val/loss",), ("gone",)), joined=(JOINED,))

    found = card_sections(PATHS, arrangement)

    assert names(found) == {
        "pinned": ["val/loss"],
        "joined": ['["train/loss","val/loss"]'],
        "train/": ["train/loss"],
        "infer/": ["infer/latency"],
        "val/": [],
    }


def test_a_pinned_chart_is_there_though_a_page_has_no_room_for_its_section():
    arrangement = Arrangement(pinned=(("val/loss",),))

    found = card_sections(PATHS[:1], arrangement, known=PATHS)

    assert names(found)["pinned"] == ["val/loss"]
    assert "val/" not in names(found)


def test_a_series_that_is_divided_has_a_chart_for_each_part_below_its_name():
    arrangement = Arrangement(
        pinned=(("val/loss",),), log=frozenset([("val/loss",)]), size="small"
    )

    pinned, *_ = card_sections(PATHS, arrangement, parts=PARTS)

    assert [grid.title for grid in pinned.grids] == ["val/loss"]
    assert [card.name for card in pinned.cards] == ["val/loss, adam", "val/loss, sgd"]
    assert [card.batch_query for card in pinned.cards] == [
        "path=val%2Floss&part=0&own=log",
        "path=val%2Floss&part=1&own=log",
    ]
    assert pinned.shown_count == 1


def test_the_first_charts_are_as_many_as_one_answer_holds():
    sections = card_sections(PATHS, Arrangement(joined=(JOINED,)))

    def first(**limits):
        bounds = {"charts": 9, "lines": 99, "letters": 999, **limits}
        return [card.title for card in first_of(sections, **bounds)]

    every = ["train/loss, val/loss", "train/loss", "infer/latency", "val/loss"]
    assert first() == every
    assert first(charts=2) == every[:2]
    assert first(lines=3) == every[:2]
    assert first(lines=30, runs=10) == every[:2]
    assert first(letters=30) == []
