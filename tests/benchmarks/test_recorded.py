"""What benchmarks of pages print is what tests that there are recorded."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from benchmarks.pages import hostile_texts, weights
from benchmarks.pages.recorded import Recorded

ROOT = Path(__file__).parents[2]


def report(parameters: str, **properties: object) -> SimpleNamespace:
    return SimpleNamespace(
        when="call",
        nodeid=f"tests/test_a.py::test_one-of-two[{parameters}]",
        user_properties=list(properties.items()),
    )


def test_what_is_recorded_is_told_by_the_parameter_and_not_by_the_browser():
    recorded = Recorded(("in order", "reversed"))

    recorded.pytest_runtest_logreport(report("chromium-in order", pages=3))
    recorded.pytest_runtest_logreport(report("reversed-chromium", pages=4))
    recorded.pytest_runtest_logreport(report("chromium", pages=5))

    assert recorded.found == {"in order": {"pages": 3}, "reversed": {"pages": 4}}


def test_a_row_says_how_many_pages_showed_how_many_fields():
    said = {"payloads": 60, "fields": ["Run.name", "tags"], "pages": 700, "hits": 0}

    cells = hostile_texts.row("in order", said)

    assert cells == ["in order", "60", "2", "700", "1,400", "0"]


@pytest.mark.parametrize(
    ("test", "parameters"),
    [(hostile_texts.TEST, hostile_texts.ORDERS), (weights.TEST, weights.TITLES)],
)
def test_the_test_that_records_is_there_with_its_parameters(test, parameters):
    path, _, name = test.partition("::")
    written = (ROOT / path).read_text("utf-8")

    assert f"def {name or 'test_'}" in written
    assert all(f'"{each}": ' in written for each in parameters)
