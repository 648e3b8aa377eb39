"""`seamark ls` shows the same durations as the runs table."""

import pytest

from seamark.commands.ls import duration


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.247, "247 ms"),
        (1.95, "1.9 s"),
        (2.04, "2 s"),
        (59.97, "1 min"),
        (312.4, "5 min 12 s"),
        (7_500, "2 h 5 min"),
        (183_600, "2 d 3 h"),
    ],
)
def test_a_duration_has_the_units_of_the_runs_table(seconds, text):
    assert duration(seconds) == text
