"""Template tags of findings."""

from urllib.parse import parse_qs

import pytest

from tests.diagnoses import NOW
from tracker.diagnosis.engine.judgement import Label
from tracker.diagnosis.engine.measurements import Window
from tracker.queries.diagnoses.diagnoses import HistoryEntry
from web.templatetags.findings import change, of, zoom


def entry(what, *, is_primary=False):
    return HistoryEntry(NOW, what, "critical", Label.CONFIRMED, is_primary=is_primary)


@pytest.mark.parametrize(
    ("told", "words"),
    [
        (
            entry("opened", is_primary=True),
            "opened as critical, confirmed, main cause",
        ),
        (entry("changed"), "changed to critical, confirmed"),
        (entry("cleared"), "cleared"),
    ],
)
def test_a_change_is_told_in_words(told, words):
    assert change(told) == words


def test_a_window_is_looked_at_with_what_lies_around_it():
    asked = parse_qs(zoom(Window(10_000_000, 20_000_000)))

    assert asked == {"low": ["8500"], "high": ["21500"]}


def test_what_a_finding_lacks_is_empty():
    assert of({1: "slow"}, 1) == "slow"
    assert of({1: "slow"}, 2) == ""
