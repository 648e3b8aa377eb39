"""The bars of a ladder, and the legend of their colours."""

from tests.web.pages.ladders.test_step_cards import KNOWN, UNKNOWN, ladder
from web.pages.ladders.bars import EXAMPLE, STEP, bars_of, legend_of, unit_of


def test_the_legend_names_parts_and_colours():
    assert legend_of(ladder(UNKNOWN, KNOWN)) == [
        ("waiting for data", "wait"),
        ("forward", "0"),
        ("everything else", "other"),
    ]


def test_bars_are_per_step_where_examples_are_not_counted_or_steps_are_wanted():
    assert unit_of(ladder(UNKNOWN), EXAMPLE) == STEP
    assert unit_of(ladder(KNOWN), STEP) == STEP


def test_a_rung_of_which_little_is_known_has_a_bar_that_says_so():
    unknown, known = bars_of(ladder(UNKNOWN, KNOWN), STEP)

    assert (unknown.parts, unknown.unknown) == ([], "not enough steady steps to judge")
    assert known.seconds > 0
