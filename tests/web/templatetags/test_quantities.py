import pytest

from tracker.diagnosis.engine.finding import Evidence, Side
from web.templatetags.quantities import (
    clears_at,
    described,
    factor,
    is_gain,
    limit,
    quantity,
)


@pytest.mark.parametrize(
    ("value", "unit", "shown"),
    [
        (0.625, "share", "62 %"),
        (37.0, "%", "37 %"),
        (0.3, "s", "300 ms"),
        (11 * 2**30, "B", "11 GiB"),
        (1.7, "cores", "1.7 cores"),
        (0.9536, "cores", "0.95 cores"),
        (1.0, "cores", "1 core"),
        (1, "processes", "1 process"),
        (1.0, "0 or 1", "yes"),
        (0.0, "0 or 1", "no"),
        (127.96, "cores", "128 cores"),
        (float("nan"), "cores", "NaN cores"),
        (64, "", "64"),
        (None, "s", "–"),
    ],
)
def test_values_are_shown_in_their_unit(value, unit, shown):
    assert quantity(value, unit) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [(1.158, "1.16×"), (2.0, "2×"), (12.4, "12×"), (None, "–"), (float("inf"), "–")],
)
def test_factors_of_throughput_are_short(value, shown):
    assert factor(value) == shown


@pytest.mark.parametrize(
    ("cited", "shown", "held"),
    [
        (Evidence("a", "mean", 0.2, "share", 0.1, Side.ABOVE, 0.07), "> 10 %", ""),
        (Evidence("a", "mean", 1.0, "cores", 1.7, Side.BELOW), "< 1.7 cores", ""),
        (
            Evidence("a", "mean", 0.08, "share", 0.1, Side.ABOVE, 0.07),
            "> 10 %",
            "clears at < 7 %",
        ),
        (
            Evidence("a", "mean", 72.0, "%", 70.0, Side.BELOW, 75.0),
            "< 70 %",
            "clears at > 75 %",
        ),
        # From a version without `side`.
        (Evidence("a", "mean", 0.2, "share", 0.1), "10 %", ""),
        (Evidence("a", "mean", 0.2, "share"), "", ""),
    ],
)
def test_a_limit_says_its_side_and_where_it_clears(cited, shown, held):
    assert (limit(cited), clears_at(cited)) == (shown, held)


def test_what_rounds_to_nothing_is_no_gain():
    assert is_gain(1.33)
    assert not is_gain(1.004)


def test_a_signal_is_described():
    assert "wall time" in described("step_seconds").lower()
    assert described("gone") == ""
