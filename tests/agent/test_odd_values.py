"""No value from training code raises an exception, unless a run is strict."""

from __future__ import annotations

import math
import time

import pytest

import agent
from seamark.errors import AgentError
from seamark.recording.values import LONGEST_TEXT
from tests.agent.odd_values import (
    NUMBERS,
    OTHERS,
    SLEEP_SECONDS,
    Slow,
    long_text,
)


@pytest.mark.parametrize("words", NUMBERS)
def test_whatever_is_one_number_is_a_point(tracker, words):
    with agent.init("r", monitor=False, strict=True) as run:
        run["a"].append(NUMBERS[words]())
        run.log({"b": NUMBERS[words]()})

    expected = float(NUMBERS[words]())
    (one,), (other,) = tracker.values("a"), tracker.values("b")
    assert one == other == expected or (math.isnan(one) and math.isnan(other))


@pytest.mark.parametrize("words", ["bfloat16", "with a gradient", "on a GPU"])
def test_a_scalar_tensor_is_a_value(tracker, words):
    with agent.init("r", monitor=False, strict=True) as run:
        run["a"] = NUMBERS[next(name for name in NUMBERS if words in name)]()

    assert tracker.attributes()["a"] == 1.0


@pytest.mark.parametrize("words", OTHERS)
def test_what_is_no_number_is_refused_and_raises_nothing(tracker, words):
    with agent.init("r", monitor=False) as run:
        run["a"].append(OTHERS[words]())
        run.log({"b": OTHERS[words]()})
        run.log({"c": 1.0})
        run["d"] = OTHERS[words]()

    assert tracker.values("a") == tracker.values("b") == []
    assert tracker.values("c") == [1.0]


@pytest.mark.parametrize("words", OTHERS)
def test_a_strict_run_raises_its_own_error_for_it(tracker, words):
    with (
        agent.init("r", monitor=False, strict=True) as run,
        pytest.raises(AgentError),
    ):
        run["a"].append(OTHERS[words]())


def test_a_number_that_takes_long_delays_its_own_call_only(tracker):
    with agent.init("r", monitor=False) as run:
        began = time.monotonic()
        run["a"].append(Slow())
        took = time.monotonic() - began
        run["b"].append(1.0)

    assert took >= SLEEP_SECONDS
    assert tracker.values("a") == tracker.values("b") == [1.0]


def test_a_text_of_ten_million_characters_raises_nothing_and_takes_nothing_along(
    tracker, caplog
):
    text = long_text()
    with agent.init("r", monitor=False) as run:
        run["value"] = text
        run["text"].append(text)
        run.log({"log": text})
        run[text].append(1.0)
        run["b"].append(1.0)

    assert "value" not in tracker.attributes()
    # Of a long line, the beginning is stored.
    (line,) = tracker.texts("text")
    assert 0 < len(line) <= LONGEST_TEXT
    assert tracker.values("b") == [1.0]
    # The rejected value is not repeated in full.
    assert max(len(record.getMessage()) for record in caplog.records) < 1_000


def test_a_strict_run_says_that_a_text_is_too_long(tracker):
    with (
        agent.init("r", monitor=False, strict=True) as run,
        pytest.raises(agent.UnsupportedValue, match="longer than"),
    ):
        run["value"] = long_text()
