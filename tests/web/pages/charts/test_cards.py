"""The charts of a page as cards, in the sections that their reader made."""

from pathlib import Path

from web.pages.charts.arrangement import Arrangement
from web.pages.charts.cards import (
    MAX_PAGE_CHARTS,
    MAX_SECTION_CHARTS,
    MAX_SECTION_PATHS,
    MIN_INDEXED,
    card_sections,
    first_of,
    is_indexed,
)
from web.pages.compare.divided_runs import Part

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


def sections_of(found):
    """The sections of namespaces, by name."""
    return {section.name: section for section in found if not section.is_chosen}


def test_every_section_is_listed_with_its_count_however_many_charts_another_has():
    many = [f"debug/{number:03}" for number in range(290)]

    found = sections_of(card_sections([*many, *PATHS], Arrangement()))

    assert {name: section.shown_count for name, section in found.items()} == {
        "train/": 1,
        "val/": 1,
        "debug/": 290,
        "infer/": 1,
    }
    debug = found["debug/"]
    assert [card.title for card in debug.cards] == many[:MAX_SECTION_CHARTS]
    assert debug.rest == many[MAX_SECTION_CHARTS:]


def test_a_page_of_many_sections_lists_them_all_and_the_first_charts():
    paths = [f"{letter}/{n}" for letter in "abcdefghijklmno" for n in range(50)]

    found = sections_of(card_sections(paths, Arrangement()))

    assert len(found) == 15
    assert sum(len(section.cards) for section in found.values()) == MAX_PAGE_CHARTS
    assert all(len(s.cards) + len(s.rest) == 50 for s in found.values())


def test_a_folded_section_only_names_its_charts():
    path = "monitoring/train/gpu"

    sections = sections_of(card_sections(["train/loss", path], Arrangement()))
    section = sections["monitoring/train/"]

    assert (section.cards, section.rest, section.shown_count) == ([], [path], 1)


def test_found_charts_come_first_and_the_others_can_be_found_later():
    paths = [f"train/{number:04}" for number in range(MAX_SECTION_PATHS + 100)]

    section = sections_of(card_sections(paths, Arrangement(), matching=paths[-2:]))[
        "train/"
    ]

    assert [card.title for card in section.cards] == paths[-2:]
    assert (section.shown_count, section.unnamed_count) == (2, 0)
    assert len(section.rest) == MAX_SECTION_PATHS

    section = sections_of(card_sections(paths, Arrangement()))["train/"]
    assert section.unnamed_count == 100 - MAX_SECTION_CHARTS


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

    every = ["train/loss, val/loss", "train/loss", "val/loss", "infer/latency"]
    assert first() == every
    assert first(charts=2) == every[:2]
    assert first(lines=3) == every[:2]
    assert first(lines=30, runs=10) == every[:2]
    assert first(letters=30) == []


def test_many_sections_have_an_index_whatever_the_search_finds():
    paths = [f"space-{number}/loss" for number in range(MIN_INDEXED)]

    assert is_indexed(card_sections(paths, Arrangement()))
    assert is_indexed(card_sections(paths, Arrangement(), matching=paths[:1]))
    assert not is_indexed(card_sections(paths[1:], Arrangement()))


def test_scripts_show_the_index_from_the_same_number_of_sections():
    script = Path("web/static/web/js/components/section_index.js").read_text("utf-8")

    assert f"const MIN_SECTIONS = {MIN_INDEXED}\n" in script
