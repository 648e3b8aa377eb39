from dataclasses import replace

import pytest

from benchmarks.logging.entrants import (
    EACH_10_MS,
    ENTRANTS,
    FLOOD,
    SITUATIONS,
    Entrant,
    Result,
)
from benchmarks.logging.outcome import Outcome
from benchmarks.logging.tables import (
    calls_table,
    client_table,
    in_microseconds,
    notes,
    quantile,
    systems_table,
)
from benchmarks.peers.environments import REQUIREMENTS, read_requirements
from tracker.processes import ROOT

OUTCOME = Outcome(
    release="1.2",
    writing="`log`",
    imported=0.2,
    opened=0.03,
    closed=0.004,
    width=20,
    calls=[*[1_000] * 98, 50_000, 50_000],
    processor=0.004,
    memory=3 * 1_048_576,
    has_ring=True,
)


def result(**changes: Outcome) -> Result:
    """A result in which all situations were alike, but for what is given."""
    outcomes = {
        situation.key: replace(OUTCOME, width=situation.width)
        for situation in SITUATIONS
    }
    return Result("wandb, offline", {**outcomes, **changes})


def cells(markdown: str) -> list[str]:
    line = markdown.splitlines()[-1]
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_calls_are_divided_by_the_points_of_a_step():
    assert cells(calls_table([result()])) == [
        "wandb, offline",
        "1.00 / 50.0",
        "0.050 / 2.50",
        "0.001 / 0.050",
        *["0.050 / 2.50"] * 2,
        "1.00 / 50.0",
        "0.050 / 2.50",
    ]


def test_the_client_is_told_from_steady_logging_and_from_the_flood():
    flood = replace(OUTCOME, closed=0.5, processor=0.1, imported=9.0)

    assert cells(client_table([result(**{FLOOD: flood})])) == [
        *("wandb, offline", "2.00", "50.0", "200 ms", "30.0 ms", "4.0 ms", "500 ms"),
        *("3.0 MiB", "2,000"),
    ]


def test_one_that_broke_is_a_row_that_says_why():
    broken = Result("Aim", error="first run: no | answer")

    for table in (calls_table, client_table):
        assert cells(table([broken]))[:2] == ["Aim", "first run: no / answer"]
    assert "Aim" not in systems_table([broken])
    assert notes([broken], 100) == []


def test_systems_are_named_with_their_releases():
    assert cells(systems_table([result()])) == ["wandb, offline", "1.2", "`log`"]


def test_a_complete_result_needs_no_notes():
    assert notes([result()], 100) == []


def test_notes_say_what_was_cut_short_lost_or_not_done():
    hasty = replace(OUTCOME, calls=[1_000] * 40)
    lossy = replace(OUTCOME, dropped=7, is_quiet=False)

    assert notes([result(**{EACH_10_MS: hasty, FLOOD: lossy})], 100) == [
        "- wandb, offline, 20 metrics each 10 ms: out of time after 40 steps.",
        "- wandb, offline, 20 metrics, no pause: 7 of 2,000 points dropped.",
        "- wandb, offline, 20 metrics, no pause: still at work when its processor was read.",
    ]


def test_a_quantile_of_few_values_is_one_of_them():
    assert quantile([3], 0.99) == 3
    assert quantile([2, 1], 0.99) == 2
    assert quantile(list(range(100)), 0.99) == 99


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(2.5e-8, "0.025"), (1.234e-6, "1.23"), (1.25e-5, "12.5"), (0.0123, "12,300")],
)
def test_microseconds_have_the_digits_worth_reading(seconds: float, words: str):
    assert in_microseconds(seconds) == words


@pytest.mark.parametrize("entrant", ENTRANTS, ids=lambda entrant: entrant.key)
def test_each_entrant_has_a_client_and_pinned_packages(entrant: Entrant):
    pinned = read_requirements(REQUIREMENTS.read_text())

    assert (ROOT / f"benchmarks/logging/systems/{entrant.module}.py").exists()
    assert entrant.environment in {"", *pinned}
