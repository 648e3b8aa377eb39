"""Real PyTorch tensors are logged as numbers, for each dtype and with gradients."""

from __future__ import annotations

import pytest

import agent
from tests.agent.odd_values import of_torch
from tests.slow.frameworks.requiring import framework

framework("torch")

NUMBERS, OTHERS = of_torch()


@pytest.mark.parametrize("words", NUMBERS)
def test_a_scalar_is_a_point_and_a_value(tracker, words):
    with agent.init("r", monitor=False, strict=True) as run:
        run["a"].append(NUMBERS[words]())
        run["a"].extend([NUMBERS[words]()])
        run.log({"b": NUMBERS[words]()})
        run["c"] = NUMBERS[words]()

    assert tracker.values("a") == [1.0, 1.0]
    assert tracker.values("b") == [1.0]
    assert tracker.attributes()["c"] == 1.0


@pytest.mark.parametrize("words", OTHERS)
def test_what_is_no_number_raises_nothing(tracker, words):
    with agent.init("r", monitor=False) as run:
        run["a"].append(OTHERS[words]())
        run.log({"b": OTHERS[words](), "c": 1.0})
        run["d"] = OTHERS[words]()

    assert tracker.values("c") == [1.0]
