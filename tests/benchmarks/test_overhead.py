"""What a loop with a run costs more than one without is told from the machine's noise."""

from __future__ import annotations

import random
import sys

import pytest

from benchmarks.agent_faults import overhead, pytorch
from benchmarks.agent_faults.__main__ import CASES
from benchmarks.agent_faults.case import Found, Size
from benchmarks.agent_faults.overhead import (
    ROUNDS,
    WAYS,
    Pace,
    Round,
    Rounds,
    Turn,
    judged,
)

# Of a turn at rest; of one between two of these, twice as many.
STEPS = 20
# By which the machine becomes slower, or faster, from one turn to the next.
DRIFT = 0.01
PROCESSES = CASES["CF-21, python"].amount
Made = dict[str, list[Rounds]]


def rounds(
    *,
    more: float,
    noise: float = 0.005,
    cpu: float = 0.02,
    processes: int = PROCESSES,
    differ: float = 0.0,
) -> Made:
    """Make rounds in which a step takes so much longer while the run is awake.

    In every other process by as much more, and else less, as they differ.
    """
    chance = random.Random(0)

    def process(number: int) -> Rounds:
        ours = more + differ * (-1) ** number
        awake, control = map(ROUNDS.count, ("awake", "control"))
        return Rounds(
            [_round(chance, ours, noise, cpu) for _ in range(awake)],
            [_round(chance, 0, noise, 0) for _ in range(control)],
        )

    return {name: [process(number) for number in range(processes)] for name in WAYS}


def _round(chance: random.Random, more: float, noise: float, cpu: float) -> Round:
    drift = chance.choice((-DRIFT, DRIFT))
    turns = []
    for number in range(3):
        is_between = number == 1
        pace = 0.1 * (1 + number * drift) * (1 + chance.gauss(0, noise))
        pace *= 1 + more if is_between else 1
        steps = 2 * STEPS if is_between else STEPS
        times = [pace * (1 + abs(chance.gauss(0, noise))) for _ in range(steps)]
        spent = [0.9 * time for time in times]
        taken = [cpu / steps if is_between else 0.0 for _ in times]
        turns.append(Turn(times, spent, taken))
    return Round(*turns)


def awake_of(made: Made) -> list[Round]:
    return [each for ours in made.values() for p in ours for each in p.awake]


def verdicts(found: list[Found], words: str) -> set[bool | None]:
    return {b.holds for one in found for b in one.bounds if words in b.words}


def found_of(made: Made) -> list[Found]:
    return judged("python", made, Pace())


def test_a_loop_that_costs_little_keeps_to_its_bounds_though_the_machine_drifts():
    found = found_of(rounds(more=0.002))

    assert len(found) == 1 + len(WAYS)
    assert verdicts(found, "can be told") == {True}
    assert verdicts(found, "median") == {True}
    assert verdicts(found, "threads") == {True}


def test_processes_that_ran_at_once_are_said_to():
    made = rounds(more=0.0)

    (_, alone, *_) = judged("python", made, Pace())
    (_, beside, *_) = judged("python", made, Pace(), ", 5 at once on 2 cores each")

    assert f"{PROCESSES} processes, {6 * PROCESSES} times" in alone.done
    assert f"{PROCESSES} processes, 5 at once on 2 cores each, " in beside.done


def test_a_cost_of_more_than_a_percent_is_told():
    assert verdicts(found_of(rounds(more=0.03)), "median") == {False}


def test_processes_that_differ_from_each_other_show_nothing():
    found = found_of(rounds(more=0.008, noise=0.001, differ=0.006))

    assert verdicts(found, "can be told") == {True}
    assert verdicts(found, "median") == {None}


def test_a_single_process_has_an_interval_of_its_own():
    (_, healthy, *_) = found_of(rounds(more=0.01, processes=1))

    assert "+1.00 % to +1.00 %" not in healthy.figures[0]
    assert healthy.holds is None


def test_what_the_loop_waits_for_is_told():
    made = rounds(more=0.0)
    for each in awake_of(made):
        each.between.spent[:] = [0.8 * time for time in each.between.times]

    (_, healthy, *_) = found_of(made)

    assert (
        "it waits 20.00 % of a step (p99 20.00 %), beside it 10.00 % of a step"
        in healthy.figures[2]
    )


def test_slow_steps_are_told_though_the_median_is_as_it_was():
    slow = rounds(more=0.0)
    for each in awake_of(slow):
        each.between.times[:3] = [2 * time for time in each.between.times[:3]]

    found = found_of(slow)

    assert verdicts(found, "median") == {True}
    assert verdicts(found, "p99 ≤ 3 % more") == {False}


def disturbed(*, rest: int, awake: int) -> Found:
    """What is found where the machine disturbs so many steps of each turn."""
    made = rounds(more=0.0)
    for each in awake_of(made):
        for turn, steps in ((each.before, rest), (each.between, awake)):
            for step in range(steps):
                turn.times[step] *= 2
                turn.spent[step] *= 2
    (_, healthy, *_) = found_of(made)
    return healthy


def test_steps_that_the_machine_disturbed_do_not_count_for_the_slow_ones():
    healthy = disturbed(rest=3, awake=3)

    assert "without the 7.5 % of steps" in healthy.figures[0]
    assert "(7.5 % took as much here)" in healthy.figures[0]
    assert verdicts([healthy], "p99 ≤ 3 % more") == {True}


def test_more_of_them_than_at_rest_do_count():
    healthy = disturbed(rest=2, awake=3)

    assert "without the 5.0 % of steps" in healthy.figures[0]
    assert "(7.5 % took as much here)" in healthy.figures[0]
    assert verdicts([healthy], "p99 ≤ 3 % more") == {False}


def test_a_process_whose_steps_are_longer_says_nothing_of_the_slow_ones():
    made = rounds(more=0.0)
    for ours in made.values():
        for each in ours[0].awake:
            for turn in (each.before, each.between, each.behind):
                turn.times[:] = [3 * time for time in turn.times]
                turn.spent[:] = [3 * spent for spent in turn.spent]

    assert verdicts(found_of(made), "p99 ≤ 3 % more") == {True}


def test_a_machine_that_is_too_noisy_to_tell_shows_nothing():
    found = found_of(rounds(more=0.02, noise=0.2))

    assert verdicts(found, "can be told") == {None}
    assert verdicts(found, "median") == {None}


def test_threads_that_take_more_than_they_may_are_told_on_any_machine():
    found = found_of(rounds(more=0.0, noise=0.2, cpu=0.6))

    assert verdicts(found, "threads") == {False}


def test_threads_that_take_much_of_few_steps_are_told():
    made = rounds(more=0.0)
    for each in awake_of(made):
        each.between.taken[0] = 0.005

    (_, healthy, *_) = found_of(made)

    assert "of a step 5.0 % at p99" in healthy.figures[-1]
    assert verdicts([healthy], "threads ≤") == {True}
    assert verdicts([healthy], "threads at p99") == {False}


def test_a_loop_of_pytorch_is_a_line_that_says_so_where_it_is_missing(
    monkeypatch: pytest.MonkeyPatch, tmp_path
):
    monkeypatch.setattr(overhead, "python_with_torch", lambda: None)

    (found,) = overhead.of_torch(Size(tmp_path, 1))

    assert found.verdict == "not shown: needs PyTorch"
    assert "test --frameworks" in found.figures[0]


def test_a_loop_on_a_gpu_is_a_line_that_says_so_where_there_is_none(
    monkeypatch: pytest.MonkeyPatch, tmp_path
):
    monkeypatch.setattr(overhead, "python_with_torch", lambda: sys.executable)
    monkeypatch.setattr(overhead, "finds_gpu", lambda python: python != sys.executable)

    (found,) = overhead.of_gpu(Size(tmp_path, 1))

    assert found.holds is None
    assert "PyTorch finds no GPU" in found.figures[0]


@pytest.mark.parametrize(
    ("code", "answer"),
    [
        ("class cuda: is_available = lambda: True", True),
        ("class cuda: is_available = lambda: False", False),
        ("raise RuntimeError", False),
    ],
)
def test_a_python_is_asked_whether_its_pytorch_finds_a_gpu(
    monkeypatch, tmp_path, code, answer
):
    (tmp_path / "torch.py").write_text(code)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))

    assert pytorch.finds_gpu(sys.executable) is answer


def test_a_loop_that_waits_for_a_gpu_lets_others_have_its_core():
    made = rounds(more=0.0)
    for each in awake_of(made):
        each.between.taken[0] = 0.005

    (_, healthy, *_) = judged("gpu", made, Pace())

    assert "of a step 5.0 % at p99" in healthy.figures[-1]
    assert not verdicts([healthy], "threads at p99")
    assert healthy.holds is True


def test_another_environment_may_have_pytorch(monkeypatch, tmp_path):
    python = tmp_path / "python"
    monkeypatch.setattr(pytorch.importlib.util, "find_spec", lambda _name: None)
    monkeypatch.setattr(pytorch, "FRAMEWORKS", python)
    assert pytorch.python_with_torch() is None

    python.touch()
    assert pytorch.python_with_torch() == str(python)
