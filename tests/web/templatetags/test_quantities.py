import pytest

from web.templatetags.quantities import factor, quantity


@pytest.mark.parametrize(
    ("value", "unit", "shown"),
    [
        (0.625, "share", "62 %"),
        (37.0, "%", "37 %"),
        (0.3, "s", "300 ms"),
        (11 * 2**30, "B", "11 GiB"),
        (1.7, "cores", "1.7 cores"),
        (0.9536, "cores", "0.95 cores"),
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
