"""What a loop with a run costs more than one without is told from the machine's noise."""

from __future__ import annotations

import random

import pytest

from benchmarks.agent_faults import overhead, pytorch
from benchmarks.agent_faults.__main__ import CASES
from benchmarks.agent_faults.case import Found, Size
from benchmarks.agent_faults.overhead import ROUNDS, WAYS, Pace, Round, Turn, judged

# Of a turn at rest; of one that is awake, twice as many.
STEPS = 20
# By which the machine becomes slower, or faster, from one turn to the next.
DRIFT = 0.01
Rounds = dict[str, list[Round]]


def rounds(count: int, *, more: float, noise: float, cpu: float = 0.02) -> Rounds:
    """Make rounds in which a step takes so much longer while the run is awake."""
    chance = random.Random(0)
    return {
        name: [_round(chance, more, noise, cpu) for _ in range(count)] for name in WAYS
    }


def _round(chance: random.Random, more: float, noise: float, cpu: float) -> Round:
    drift = chance.choice((-DRIFT, DRIFT))
    turns = []
    for number in range(3):
        is_awake = number == 1
        pace = 0.1 * (1 + number * drift) * (1 + chance.gauss(0, noise))
        pace *= 1 + more if is_awake else 1
        steps = 2 * STEPS if is_awake else STEPS
        times = [pace * (1 + abs(chance.gauss(0, noise))) for _ in range(steps)]
        turns.append(Turn(times, 0.09, cpu if is_awake else 0.0))
    return Round(*turns)


def verdicts(found: list[Found], words: str) -> set[bool | None]:
    return {b.holds for one in found for b in one.bounds if words in b.words}


def usual(more: float, noise: float = 0.005) -> list[Found]:
    """What is found in as many rounds as the case has by itself."""
    count = ROUNDS * CASES["CF-21"].amount
    return judged("python", rounds(count, more=more, noise=noise), Pace())


def test_a_loop_that_costs_little_keeps_to_its_bounds_though_the_machine_drifts():
    found = usual(0.002)

    assert len(found) == 1 + len(WAYS)
    assert verdicts(found, "can be told") == {True}
    assert verdicts(found, "median") == {True}
    assert verdicts(found, "threads") == {True}


def test_a_cost_of_more_than_a_percent_is_told():
    assert verdicts(usual(0.03), "median") == {False}


def test_slow_steps_are_told_though_the_median_is_as_it_was():
    slow = rounds(24, more=0.0, noise=0.005)
    for each in (each for of_one in slow.values() for each in of_one):
        each.awake.times[:3] = [2 * time for time in each.awake.times[:3]]

    found = judged("python", slow, Pace())

    assert verdicts(found, "median") == {True}
    assert verdicts(found, "p99") == {False}


def test_a_machine_that_is_too_noisy_to_tell_shows_nothing():
    found = usual(0.02, noise=0.2)

    assert verdicts(found, "can be told") == {None}
    assert verdicts(found, "median") == {None}


def test_threads_that_take_more_than_they_may_are_told_on_any_machine():
    found = judged("python", rounds(24, more=0.0, noise=0.2, cpu=0.6), Pace())

    assert verdicts(found, "threads") == {False}


def test_a_loop_of_pytorch_is_a_line_that_says_so_where_it_is_missing(
    monkeypatch: pytest.MonkeyPatch, tmp_path
):
    monkeypatch.setattr(overhead, "works", lambda: {"torch": None})

    (found,) = overhead.overhead(Size(tmp_path, 1))

    assert found.verdict == "not shown: needs PyTorch"
    assert "test --frameworks" in found.figures[0]


def test_another_environment_may_have_pytorch(monkeypatch, tmp_path):
    python = tmp_path / "python"
    monkeypatch.setattr(pytorch.importlib.util, "find_spec", lambda _name: None)
    monkeypatch.setattr(pytorch, "FRAMEWORKS", python)
    assert overhead.works()["torch"] is None

    python.touch()
    assert overhead.works()["torch"] == str(python)
