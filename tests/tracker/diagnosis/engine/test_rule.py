from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType

import numpy as np
import pytest

from tracker.diagnosis.engine.rule import Rule, Span


@dataclass(frozen=True, slots=True)
class Limits:
    high_share: float = 0.5
    fewest_steps: int = 10


def module(check, **constants) -> ModuleType:
    made = ModuleType("tracker.diagnosis.rules.something_is_wrong")
    made.__doc__ = (
        "Something is wrong.\n\n## Detection\nFaults.\n\nCatalogue: C3, faults."
    )
    vars(made).update({"check": check, **constants})
    return made


def test_a_module_says_everything_about_its_rule():
    def check(step_seconds, *, framework=None, already_open=False, limits=Limits()):
        return None

    rule = Rule.from_module(module(check, SPAN=Span.STAGE))

    assert rule.name == "something-is-wrong"
    assert rule.title == "Something is wrong"
    assert rule.needs == ("step_seconds",)
    assert rule.may_use == ("framework",)
    assert rule.span is Span.STAGE
    assert rule.explanation == "## Detection\nFaults."
    assert rule.limits == {"high share": 0.5, "fewest steps": 10}


def test_a_changed_limit_leaves_the_other_limits_and_the_original_rule():
    rule = Rule.from_module(module(lambda *, limits=Limits(): limits))
    changed = rule.with_limits({"high share": 0.7})

    assert changed.ask({}) == Limits(high_share=0.7)
    assert rule.ask({}) == Limits()


def test_a_check_without_limits_has_none():
    assert Rule.from_module(module(lambda step_seconds: None)).limits == {}


def test_a_rule_with_an_unknown_signal_is_refused():
    with pytest.raises(TypeError, match=r"unknown signals: .'mood'."):
        Rule.from_module(module(lambda mood: None))


def test_a_rule_gets_only_what_it_asks_for():
    asked = {}

    def check(step_seconds, *, already_open=False):
        asked.update(step_seconds=step_seconds, already_open=already_open)

    rule = Rule.from_module(module(check))
    rule.ask({"step_seconds": np.ones(3), "framework": "jax"}, already_open=True)

    assert asked["step_seconds"].tolist() == [1, 1, 1]
    assert asked["already_open"]


def test_a_signal_of_gpus_makes_a_rule_about_each_gpu():
    assert Rule.from_module(module(lambda gpu_memory_used_bytes: None)).is_per_gpu
    assert not Rule.from_module(module(lambda busiest_gpu_percent: None)).is_per_gpu
