"""Two texts line by line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from web.pages.run_files.text_diff import LINES_AT_MOST, compare_texts

LINES = st.lists(st.sampled_from(["a", "b", "", "é", "a\u2028b"]), max_size=30)


def unified(diff) -> list[str]:
    signs = {"same": " ", "added": "+", "removed": "-"}
    return [
        f"{signs[line.kind]}{line.side.before}{line.side.changed}{line.side.after}"
        for section in diff.sections
        for line in section.unified
    ]


def test_shows_what_is_gone_before_what_is_new():
    diff = compare_texts("a\nb\nc", "a\nx\nc")

    assert unified(diff) == [" a", "-b", "+x", " c"]
    assert (diff.added, diff.removed) == (1, 1)


def test_marks_what_differs_within_a_line():
    (_, row) = (
        compare_texts("a\nlr = 0.1  # rate", "a\nlr = 0.25  # rate").sections[0].rows
    )

    assert row.left
    assert row.right
    assert (row.left.changed, row.right.changed) == ("1", "25")
    assert row.right.before == "lr = 0."


def test_numbers_the_lines_of_both():
    (*_, row) = compare_texts("a\nc", "a\nb\nc").sections[0].rows

    assert row.left
    assert row.right
    assert (row.left.number, row.right.number) == (2, 3)


def test_folds_what_is_the_same_but_for_some_lines_around_a_change():
    same = [f"line {number}" for number in range(50)]
    diff = compare_texts(
        "\n".join([*same, "old", *same]), "\n".join([*same, "new", *same])
    )

    folds = [(section.is_folded, len(section.rows)) for section in diff.sections]
    assert folds == [(True, 47), (False, 7), (True, 47)]


def test_equal_texts_are_one_fold():
    text = "\n".join(map(str, range(20)))
    diff = compare_texts(text, text)

    assert diff.is_same
    assert [section.is_folded for section in diff.sections] == [True]


@pytest.mark.parametrize(("left", "right"), [("", "a"), ("a", ""), ("", "")])
def test_an_empty_text_has_no_lines(left, right):
    diff = compare_texts(left, right)

    assert (diff.removed, diff.added) == (len(left), len(right))


def test_the_beginning_of_a_very_long_text_is_compared():
    diff = compare_texts("a\n" * (LINES_AT_MOST + 5), "a\n" * LINES_AT_MOST)

    assert diff.is_cut
    assert diff.is_same


@given(LINES, LINES)
def test_both_texts_can_be_put_together_again(left, right):
    diff = compare_texts("\n".join(left), "\n".join(right))
    rows = [row for section in diff.sections for row in section.rows]

    def again(sides):
        return [side.before + side.changed + side.after for side in sides if side]

    assert "\n".join(again(row.left for row in rows)) == "\n".join(left).removesuffix(
        "\n"
    )
    assert "\n".join(again(row.right for row in rows)) == "\n".join(right).removesuffix(
        "\n"
    )
