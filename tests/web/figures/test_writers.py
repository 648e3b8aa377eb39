"""Notes on series with several writers."""

import pytest

from web.figures.writers import MAX_KNOWN, lines_note, shared_note, writers_words


@pytest.mark.parametrize(
    ("ranks", "expected"),
    [
        ([1, 0], "ranks 0 and 1"),
        ([0, 1, 2, 3], "ranks 0 to 3"),
        ([0, 1, 0, 1], "ranks 0 and 1"),
        ([0, 2, 5], "3 ranks"),
        ([0, 0], "2 processes of rank 0"),
        (list(range(MAX_KNOWN)), "at least 64 processes"),
    ],
)
def test_processes_are_named_by_their_ranks(ranks, expected):
    assert writers_words(ranks) == expected


def test_a_chart_says_how_to_keep_them_apart():
    assert shared_note({}) == ""
    assert "SEAMARK_SEPARATE_RANKS" in shared_note({"loss": [0, 1]})
    assert "its own path" in shared_note({"loss": [0, 0]})
    assert shared_note({"a": [0, 1], "b": [0, 1]}).startswith("2 of these series")


def test_a_text_says_how_to_keep_them_apart():
    assert lines_note([], is_measured=False) == ""
    assert "SEAMARK_SEPARATE_RANKS" in lines_note([0, 1], is_measured=False)
    assert "its own path" in lines_note([0, 0], is_measured=False)
    # Captured paths contain stage and rank.
    assert "stage or rank" in lines_note([0, 0], is_measured=True)
