"""Seamark's figures are held against its goals, and what was too small is not shown."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.logging.__main__ import page
from benchmarks.logging.entrants import (
    EACH_10_MS,
    ENTRANTS,
    FLOOD,
    NOTHING,
    ONE,
    OURS,
    SITUATIONS,
    TWENTY,
    Result,
    steps_of,
)
from benchmarks.logging.goals import Verdict, goals_table, ring_words, verdicts
from benchmarks.logging.outcome import Outcome

STEPS = 100
# A point of 0.1 µs, 0.5 µs of processor.
QUICK = Outcome(
    release="1",
    writing="`log`",
    imported=0.04,
    opened=0.09,
    closed=0.01,
    width=20,
    calls=[2_000] * STEPS,
    processor=0.5e-6 * 20 * STEPS,
    memory=19_000_000,
    has_ring=True,
)


def result(label: str, outcome: Outcome = QUICK, **changes: Outcome) -> Result:
    """A result in which a point cost the same in all situations but those given."""
    outcomes = {
        one.key: replace(
            outcome,
            width=one.width,
            calls=[call * one.width // 20 for call in outcome.calls],
        )
        for one in SITUATIONS
    }
    return Result(label, {**outcomes, **changes})


def a_peer() -> Result:
    return result("Aim", replace(QUICK, calls=[20_000] * STEPS))


def a_million() -> Outcome:
    return replace(QUICK, calls=[2_000] * 50_000, processor=0.5)


def of(found: list[Verdict], words: str) -> Verdict:
    (verdict,) = (one for one in found if words in one.words)
    return verdict


def test_all_goals_hold_where_every_figure_is_below_them():
    ours = result(OURS, **{FLOOD: a_million()})
    bare = result(NOTHING, replace(QUICK, processor=0.0))

    found = verdicts([bare, ours, a_peer()])

    assert all(one.holds for one in found)
    assert len(found) == 9 + 5 + len(SITUATIONS)
    assert "| 10.0 (Aim) | > 1 | yes |" in goals_table(found)


@pytest.mark.parametrize(
    ("words", "changes"),
    [
        (
            "20 metrics, no pause: median",
            {FLOOD: replace(QUICK, calls=[6_100] * STEPS)},
        ),
        ("1 ms apart: p99", {TWENTY: replace(QUICK, calls=[*[1] * 97, *[21_000] * 3])}),
        ("1 metric, 1 ms apart: median", {ONE: replace(QUICK, width=1, calls=[2_001])}),
        (
            "processor a point, without *nothing*, 20 metrics each 10 ms",
            {EACH_10_MS: replace(QUICK, processor=3.1e-6 * 20 * STEPS)},
        ),
        ("the end", {EACH_10_MS: replace(QUICK, closed=0.11)}),
        ("memory more", {FLOOD: replace(a_million(), memory=20_100_000)}),
        ("mapped memory", {FLOOD: replace(QUICK, beside_ring=20)}),
        ("mapped memory", {FLOOD: replace(QUICK, has_ring=False)}),
        (
            "best peer, 20 metrics each 10 ms",
            {EACH_10_MS: replace(QUICK, calls=[20_000] * STEPS)},
        ),
    ],
)
def test_a_goal_that_is_missed_is_said_to_be(words, changes):
    bare = result(NOTHING, replace(QUICK, processor=1e-6 * 20 * STEPS))

    found = verdicts([bare, result(OURS, **changes), a_peer()])

    assert of(found, words).holds is False
    assert "**no**" in goals_table(found)


def test_import_and_init_are_medians_of_all_situations():
    slow = result(OURS, replace(QUICK, imported=0.051, opened=0.101))

    found = verdicts([slow])

    assert of(found, "`import`").holds is False
    assert of(found, "`init`").holds is False


def test_without_a_bare_loop_a_peer_or_a_million_points_nothing_is_shown():
    found = verdicts([result(OURS)])

    assert of(found, "memory more").holds is None
    assert {one.holds for one in found if "processor" in one.words} == {None}
    assert {one.holds for one in found if "best peer" in one.words} == {None}
    assert "not shown" in goals_table(found)


def test_without_seamark_there_are_no_goals():
    assert verdicts([a_peer()]) == []
    assert verdicts([Result(OURS, error="first run: no")]) == []


def test_the_page_says_whether_the_ring_was_in_use():
    without = result(OURS, **{FLOOD: replace(QUICK, has_ring=False)})

    assert "in use in all situations" in ring_words([a_peer(), result(OURS)])
    assert "no ring of mapped memory in: 20 metrics, no pause" in ring_words([without])


def test_the_page_names_its_commit_and_begins_with_the_goals():
    results = [result(OURS), a_peer()]
    lines = list(page(results, 10_000, verdicts(results)))

    assert any(", commit " in line for line in lines[:5])
    assert lines.index("## What it is to cost") < lines.index(
        "## What the loop waits for"
    )
    assert any("50,000 (20 metrics, no pause)" in line for line in lines)


def test_seamark_logs_a_million_points_in_the_flood_and_peers_fewer():
    flood = next(one for one in SITUATIONS if one.key == FLOOD)
    points = {one.label: 20 * steps_of(one, flood, 10_000) for one in ENTRANTS}

    assert points.pop(OURS) == points.pop(NOTHING) == 1_000_000
    assert set(points.values()) == {200_000}
