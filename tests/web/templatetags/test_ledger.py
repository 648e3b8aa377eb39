import math
from types import SimpleNamespace

import pytest
from django.template.loader import render_to_string

from web.templatetags.ledger import (
    gpu_time,
    gpu_time_of,
    kilowatt_hours,
    money,
    place,
    tenths,
)


@pytest.mark.parametrize(
    ("seconds", "is_of_gpus", "text"),
    [
        (None, True, "–"),
        (math.nan, True, "–"),
        (7.25, True, "7.25 GPU-s"),
        (90, True, "1.5 GPU-min"),
        (90, False, "1 min 30 s"),
        (45_000, True, "12.5 GPU-h"),
        (0, True, "0 GPU-s"),
    ],
)
def test_gpu_time(seconds, is_of_gpus, text):
    assert gpu_time(seconds, is_of_gpus) == text


def test_the_gpu_times_of_a_column_have_one_unit():
    assert gpu_time_of(1_488, 135_000) == "0.413 GPU-h"
    assert gpu_time_of(30, 90) == "0.5 GPU-min"
    assert gpu_time_of(None, 90) == "–"


def test_money_and_energy():
    assert money(None, "EUR") == "–"
    assert money(2, "EUR") == "2.00 EUR"
    assert money(12_345.6, "EUR").replace(",", "") == "12346 EUR"
    assert kilowatt_hours(2.3456) == "2.35 kWh"
    assert kilowatt_hours(None) == "–"


def test_places_are_written_as_svg_reads_them():
    assert place(0.12345) == "0.1234" or place(0.12345) == "0.1235"


def test_shares_keep_the_digit_that_makes_them_add_up():
    assert [tenths(share) for share in (0.377, 0.615, 0.008)] == [
        "37.7 %",
        "61.5 %",
        "0.8 %",
    ]


@pytest.mark.parametrize("template", ["components/ledger.html", "compare/_ledger.html"])
def test_parts_that_round_to_nothing_are_left_out(template):
    parts = [
        SimpleNamespace(
            use="computing", label="computing", share=0.9996, seconds=9.0, before=0.0
        ),
        SimpleNamespace(
            use="idle", label="between epochs", share=0.0004, seconds=0.1, before=0.9
        ),
    ]
    ledger = SimpleNamespace(parts=parts, is_of_gpus=True, money=None, seconds=9.1)

    page = render_to_string(template, {"ledger": ledger})

    assert "computing" in page
    assert "between epochs" not in page
