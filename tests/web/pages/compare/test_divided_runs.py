"""Order and styles of runs divided by a value."""

from __future__ import annotations

import pytest

from web.pages.compare.divided_runs import colours_of, dashes_of, divided, legend_of

HUGE = 1.7e308


def labels(values) -> list[str]:
    return [part.label for part in divided("params/x", values).parts]


def colours(values) -> list[str]:
    return [look.name for look in colours_of(divided("params/x", values))]


def dashes(values) -> list[str]:
    return [look.name for look in dashes_of(divided("params/x", values))]


def legend(values, looks) -> list[tuple[str, int]]:
    division = divided("params/x", values)
    return [
        (entry.label, entry.run_count) for entry in legend_of(division, looks(division))
    ]


def test_numbers_come_by_their_size_then_words_and_last_what_is_not_set():
    assert labels([None, "sgd", 10.0, 2.0, "adam"]) == [
        "2",
        "10",
        "adam",
        "sgd",
        "not set",
    ]


def test_each_part_knows_its_runs():
    parts = divided("params/x", ["b", None, "a", "b"]).parts

    assert [part.runs for part in parts] == [(2,), (0, 3), (1,)]


def test_few_values_have_a_colour_each():
    assert colours([0.3, 0.1, None]) == ["0", "1", "2"]


def test_many_numbers_are_coloured_by_their_size():
    found = colours([*map(float, range(21)), None])

    assert (found[0], found[10], found[20]) == ("scale-0", "scale-5", "scale-10")
    assert found[21] == "other"


def test_numbers_at_the_ends_of_what_there_is_have_colours():
    assert colours([-HUGE, HUGE, *map(float, range(20))])[-1] == "scale-10"


def test_of_many_words_those_after_the_tenth_share_one_colour():
    words = [f"w{number:02}" for number in range(13)]

    assert colours(words)[9:] == ["9", "other", "other", "other"]
    assert legend(words, colours_of)[-1] == ("3 other values", 3)


def test_values_after_the_fourth_share_a_dash():
    assert dashes(["a", "b", "c", "d", "e", "f"]) == [
        *("0", "1", "2", "3", "other", "other")
    ]
    assert legend(["a"] * 3 + ["b"], dashes_of) == [("a", 3), ("b", 1)]


def test_numbers_that_share_a_look_are_told_from_the_least_to_the_largest():
    many = [float(number) for number in range(101)]

    assert legend(many, colours_of)[1] == ("6 to 14", 9)


def test_each_run_has_the_look_of_its_part():
    division = divided("params/x", ["b", None, "a", "b"])

    looks = division.looks(dashes_of(division))

    assert [look.name for look in looks] == ["1", "2", "0", "1"]


@pytest.mark.parametrize("values", [[], [None], [1.0], ["x"]])
def test_nothing_to_divide_is_no_error(values):
    division = divided("params/x", values)

    assert len(colours_of(division)) == len(set(values))
    assert len(dashes_of(division)) == len(set(values))


def test_values_that_look_equal_when_rounded_have_different_labels():
    assert labels([1.00001, 1.00002, "true", "1", 1.0, None]) == [
        "1.0",
        "1.00001",
        "1.00002",
        "“1”",
        "true",
        "not set",
    ]
