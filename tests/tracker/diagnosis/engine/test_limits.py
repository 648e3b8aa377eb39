from __future__ import annotations

import math
from dataclasses import replace

import pytest

from tests.tracker.diagnosis.stages import (
    examples,
    loading_by_itself,
    loading_in_workers,
    rules_of,
)
from tracker.diagnosis.engine.diagnosis import diagnose
from tracker.diagnosis.engine.limits import (
    BY_NAME,
    InvalidLimit,
    RuleSettings,
    changed_limits,
    checked_limit,
    rules_under,
)
from tracker.diagnosis.rules import RULES

D1, M1 = "data-wait-dominates", "gpu-memory-is-nearly-full"


def found(settings: dict[str, RuleSettings], wait_share: float = 0.3) -> set[str]:
    stage = loading_by_itself(wait_share=wait_share)
    return set(rules_of(diagnose(stage, rules=rules_under(settings))))


def only_d1(**limits: float) -> dict[str, RuleSettings]:
    return {D1: RuleSettings(limits=limits)}


def test_without_settings_the_rules_are_those_of_everybody():
    assert rules_under({}) == RULES


def test_a_rule_that_is_off_is_not_asked():
    assert D1 in found({})
    assert D1 not in found({D1: RuleSettings(is_off=True)})


def test_a_limit_of_the_rules_own_module_counts():
    limits = {"critical share": 0.5}
    (rule,) = (
        r for r in rules_under({D1: RuleSettings(limits=limits)}) if r.name == D1
    )
    diagnosis = diagnose(loading_by_itself(wait_share=0.3), rules=[rule])

    assert rule.limits["critical share"] == 0.5
    assert [str(j.finding.severity) for j in diagnosis.findings] == ["warning"]


def test_a_limit_that_rules_share_counts_for_the_one_rule_alone():
    limits = RuleSettings(limits={"notable share": 0.5})

    assert D1 not in found({D1: limits})
    assert D1 in found({D1: limits}, wait_share=0.6)
    assert D1 in found({"too-few-loader-workers": limits})
    assert BY_NAME[D1].limits["notable share"] == 0.10


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_the_check_receives_each_changed_limit(rule):
    received = []

    def record(*, limits, **_):
        received.append(limits)

    for limit, usual in rule.limits.items():
        settings = {rule.name: RuleSettings(limits={limit: usual * 2})}
        (changed,) = (r for r in rules_under(settings) if r.name == rule.name)
        replace(changed, check=record).ask({})

        expected = {limit.replace(" ", "_"): usual * 2}
        assert received.pop() == replace(rule.limit_values, **expected)


@pytest.mark.parametrize(
    ("rule", "limit", "value"),
    [
        (D1, "notable share", 0.99),
        (D1, "release share", 0.99),
        ("too-few-loader-workers", "notable share", 0.99),
        ("loader-workers-only-wait", "notable share", 0.99),
        ("loader-workers-only-wait", "waiting cores", 0.001),
        ("loader-workers-only-wait", "spare", 0.01),
        ("one-loader-worker-is-slow", "notable share", 0.99),
        ("remote-storage-is-the-limit", "notable share", 0.99),
        ("gpu-differs-from-its-peers", "busy gpu percent", 101.0),
        ("gpu-is-unused-while-others-work", "unused percent", 0.0),
        ("gpus-are-loaded-unequally", "unused percent", 101.0),
        ("host-memory-keeps-growing", "blocks", 10**9),
        ("faster-but-worse", "beyond noise", 1e9),
        ("faster-but-worse", "notable share", 1e3),
        ("faster-but-worse", "fewest values", 10**6),
    ],
)
def test_a_changed_limit_reaches_the_analysis_that_rules_share(rule, limit, value):
    alarm = examples(BY_NAME[rule], "ALARMS")[0]
    changed = BY_NAME[rule].with_limits({limit: value})

    assert diagnose(alarm, rules=[BY_NAME[rule]]).findings
    assert not diagnose(alarm, rules=[changed]).findings


def test_more_spare_suggests_more_workers():
    rule = BY_NAME["too-few-loader-workers"]
    stage = loading_in_workers(2, cores=32.0)

    suggested = [
        diagnose(stage, rules=[chosen]).findings[0].finding.recommendations[0].suggested
        for chosen in (rule, rule.with_limits({"spare": 3.0}))
    ]

    assert suggested == ["6 workers", "15 workers"]


def test_every_limit_of_every_rule_can_be_changed():
    doubled = {
        rule.name: {name: value * 2 for name, value in rule.limits.items()}
        for rule in RULES
    }
    settings = {name: RuleSettings(limits=limits) for name, limits in doubled.items()}
    variants = rules_under(settings)

    assert {variant.name: dict(variant.limits) for variant in variants} == doubled
    assert [(v.needs, v.title) for v in variants] == [(r.needs, r.title) for r in RULES]
    assert not diagnose(loading_by_itself(), rules=variants).failed


def test_settings_of_removed_rules_and_limits_are_ignored():
    settings = {
        "no-such-rule": RuleSettings(is_off=True),
        D1: RuleSettings(limits={"no such limit": 1.0}),
    }

    assert rules_under(settings) == RULES


@pytest.mark.parametrize(
    ("rule", "limit", "value"),
    [
        (D1, "no such limit", 1.0),
        (D1, "notable share", math.nan),
        (D1, "notable share", math.inf),
        (D1, "notable share", 1e300),
        (D1, "notable share", 0.0),
        (D1, "notable share", -1.0),
        (M1, "fewest readings", 2.5),
    ],
)
def test_a_value_that_is_no_limit_is_refused(rule, limit, value):
    with pytest.raises(InvalidLimit) as refusal:
        checked_limit(BY_NAME[rule], limit, value)

    assert refusal.value.limit == limit


def test_only_what_differs_is_kept():
    limits = {"fewest readings": 7.0, "full share": 0.90}

    changed = changed_limits(BY_NAME[M1], limits)

    assert changed == {"fewest readings": 7}
    assert isinstance(changed["fewest readings"], int)
