"""Paths are found by a part of them or by an expression, however hostile."""

import pytest

from web.pages.runs.path_search import find_paths

PATHS = ["train/loss", "train/Loss_raw", "val/acc", "שלום", "a" * 1_000 + "!"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("LOSS", ["train/loss", "train/Loss_raw"], id="whatever the case"),
        pytest.param("^train/.*raw$", ["train/Loss_raw"], id="anchored"),
        pytest.param("loss$|^val", ["train/loss", "val/acc"], id="either"),
        pytest.param("(?-i)Loss", ["train/Loss_raw"], id="minding the case"),
        pytest.param("שלום", ["שלום"], id="any script"),
        pytest.param("nothing", [], id="nothing"),
    ],
)
def test_an_expression_finds_what_it_says(text, expected):
    assert find_paths(PATHS, text, is_regex=True).paths == expected


def test_a_text_is_no_expression():
    assert find_paths(PATHS, ".*", is_regex=False).paths == []
    assert find_paths(PATHS, "", is_regex=False).paths == PATHS


@pytest.mark.parametrize(
    "expression",
    [
        pytest.param("(", id="not closed"),
        pytest.param("*", id="nothing to repeat"),
        pytest.param(r"(a)\1", id="a back-reference"),
        pytest.param("(?=a)", id="look-around"),
        pytest.param("((a{100}){100}){100}", id="too large"),
        pytest.param("x" * 1_025, id="too long"),
    ],
)
def test_says_what_is_wrong_with_an_expression(expression):
    found = find_paths(PATHS, expression, is_regex=True)

    assert found.mistake
    assert found.paths == []


# Each would keep an engine that goes back busy for longer than a test may take.
@pytest.mark.parametrize(
    "expression", ["(a+)+$", "(a|aa)+$", "(a*)*b", "|".join("a" * n for n in range(40))]
)
def test_no_expression_holds_anybody_up(expression):
    assert not find_paths(PATHS, expression, is_regex=True).mistake
