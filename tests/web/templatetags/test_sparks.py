"""Lines as small as a word, and changes."""

from math import inf, nan
from uuid import UUID

import numpy as np
import pytest

from tracker.queries.series.series import Line
from web.templatetags.sparks import signed_share, spark


@pytest.mark.parametrize(
    ("share", "shown"),
    [
        (0.042, "+4.2 %"),
        (-0.25, "\N{MINUS SIGN}25 %"),
        (0.0, "0 %"),
        (1e-9, "0 %"),
        (9.5, "+950 %"),
        (12.5, "> +1,000 %"),
        (1e300, "> +1,000 %"),
        (-1e5, "< \N{MINUS SIGN}1,000 %"),
        (None, "–"),
        (nan, "–"),
        (inf, "–"),
    ],
)
def test_a_change_has_its_sign(share, shown):
    assert signed_share(share) == shown


def line(*values):
    numbers = np.array(values, dtype=float)
    steps = np.arange(len(values), dtype=float)
    return Line(UUID(int=1), "x", steps, numbers, numbers, numbers, True, len(values))


def test_a_line_is_drawn_without_a_style():
    drawn = spark(line(1, 2, 3))

    assert drawn.startswith("<svg")
    assert "style" not in drawn


def test_what_is_no_line_is_not_drawn():
    assert spark(None) == ""
    assert spark(line(1)) == ""
