"""Cells of the side-by-side table."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from tests.diagnoses import NOW
from tracker.queries.run.attributes import AttributeRow
from web.pages.compare.cells import TEXT_LENGTH, change_text, make_cell, value_text


def row(value: object, kind: str = "float", **summary: object) -> AttributeRow:
    numbers = {
        "count": 0,
        "minimum": None,
        "maximum": None,
        "mean": None,
        "first_step": None,
        "last_step": None,
        **summary,
    }
    return AttributeRow(path="", kind=kind, value=value, updated_at=NOW, **numbers)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.123456, "0.1235"),
        (True, "true"),
        ("adam", "adam"),
        (["a", "b"], "a, b"),
        (math.nan, "NaN"),
        (-math.inf, "\N{MINUS SIGN}∞"),
        (None, "–"),
        (datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC), "2 Jan 2026, 03:04:05 UTC"),
    ],
)
def test_shows_each_kind_of_value(value, text):
    assert value_text(value) == text


def test_a_long_text_is_cut():
    assert len(value_text("x" * 65_000)) == TEXT_LENGTH


@pytest.mark.parametrize(
    ("value", "reference", "text"),
    [
        (3.0, 2.0, "+1 (+50 %)"),
        (1.0, 2.0, "\N{MINUS SIGN}1 (\N{MINUS SIGN}50 %)"),
        (64, 16, "+48 (+300 %)"),
        (0.969444, 0.961111, "+0.00833 (+0.9 %)"),
        (12_345, 1, "+12,344"),
        (2.0, 0.0, "+2"),
        (2.0, 2.0, ""),
        ("a", "b", ""),
    ],
)
def test_says_the_change_against_the_reference_with_its_sign(value, reference, text):
    assert change_text(row(value), row(reference)) == text


@pytest.mark.parametrize(
    "given",
    [
        {"is_parameter": True},
        {"path": "monitoring/train/facts/cores"},
        {"path": "job/id"},
    ],
)
def test_parameters_facts_and_identifiers_have_no_change(given):
    cells = [replace(row(value), **given) for value in (64.0, 16.0)]

    assert change_text(*cells) == ""
    assert make_cell(*cells).is_changed


def test_marks_a_changed_cell():
    assert make_cell(row("a"), row("b")).is_changed
    assert make_cell(None, row("b")).is_changed
    assert not make_cell(row("b"), row("b")).is_changed


def test_the_title_has_what_the_text_leaves_out():
    series = row(1.0, "float_series", count=3, minimum=1.0, maximum=3.0, mean=2.0)

    assert make_cell(row(0.1234567), None).title == "0.1234567"
    assert make_cell(series, None).title == ("last of 3 points; min 1, max 3, mean 2")
