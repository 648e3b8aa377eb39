from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tracker.records.examples import records
from tracker.records.search import places_of, plain


@pytest.mark.parametrize(
    ("wanted", "places"),
    [
        ("error", [0, 3]),
        ("ERROR: d", [3]),
        ("größe", [1]),
        ("GRÖSSE", [1]),
        ("x", []),
        ("ab", [4]),
    ],
)
def test_records_with_a_text_are_found(wanted, places):
    lines = ["an Error, and error", "Größe 5", "", "\x1b[31mERR\x1b[0mOR: disk", "ab"]

    found = places_of(records([line.encode() for line in lines]), wanted)

    assert found.tolist() == places


@given(
    st.lists(st.text("aAb\x1b[m", max_size=6), min_size=1), st.text("aAb", min_size=1)
)
def test_every_match_contains_the_text(lines, wanted):
    found = places_of(records([line.encode() for line in lines]), wanted)

    assert found.tolist() == [
        place
        for place, line in enumerate(lines)
        if wanted.lower() in plain(line).lower()
    ]


@pytest.mark.parametrize(
    "text",
    [
        "\x1b[31mred\x1b[0m",
        "\x1b[38;5;196mred\x1b[m",
        "\x1b]0;a title\x07red",
        "\x1b]8;;http://x\x1b\\red\x1b]8;;\x1b\\",
        "\x1b[2K\x1b[1Gred",
        "re\x1bMd",
    ],
    ids=range(6),
)
def test_instructions_to_terminals_are_left_out(text):
    assert plain(text) == "red"
