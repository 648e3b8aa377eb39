"""Promises every rule keeps."""

from __future__ import annotations

import pkgutil
from itertools import product

import numpy as np
import pytest

from tests.tracker.diagnosis.stages import GIB, SECOND, START, stage, steps
from tracker.diagnosis import rules
from tracker.diagnosis.engine import diagnose
from tracker.diagnosis.measurements import Measurements, Steps
from tracker.diagnosis.signals import SIGNALS, Kind, Samples

SECTIONS = ("## What it looks for", "## Why it matters", "## When it is wrong")

every_rule = pytest.mark.parametrize("rule", rules.RULES, ids=lambda rule: rule.name)

ODD = {
    "nan": np.nan,
    "infinity": np.inf,
    "minus infinity": -np.inf,
    "zero": 0.0,
    "negative": -1.0,
    "tiny": 5e-324,
    "huge": 1e308,
    "one": 1.0,
}


def test_every_rule_file_is_registered():
    files = {
        module.name.replace("_", "-") for module in pkgutil.iter_modules(rules.__path__)
    }

    assert {rule.name for rule in rules.RULES} == files


@every_rule
def test_every_rule_explains_itself(rule):
    assert all(section in rule.explanation for section in SECTIONS)
    assert rule.title
    assert not rule.title.endswith(".")


@every_rule
def test_every_rule_has_limits(rule):
    assert rule.limits


@every_rule
def test_every_rule_explains_only_rules_that_exist(rule):
    names = {known.name for known in rules.RULES}
    for measurements in (*troubled_stages(), Measurements()):
        for judgement in diagnose(measurements, rules=[rule]).findings:
            assert set(judgement.finding.explains) <= names


@every_rule
def test_every_rule_is_unanswered_without_its_signals(rule):
    diagnosis = diagnose(Measurements(), rules=[rule])

    assert diagnosis.unanswered == {rule.name: rule.needs}
    assert not diagnosis.failed


@every_rule
def test_every_rule_is_found_somewhere_with_all_that_a_page_shows(rule):
    found = [
        judgement
        for measurements in troubled_stages()
        for judgement in diagnose(measurements).findings
        if judgement.rule == rule.name
    ]

    assert found
    for judgement in found:
        finding = judgement.finding
        assert judgement.title
        assert finding.summary.endswith(".")
        assert finding.disproof.endswith(".")
        assert finding.recommendations
        assert finding.evidence
        assert {evidence.signal for evidence in finding.evidence} <= SIGNALS.keys()
        assert 0.5 <= finding.margin <= 1.0
        if finding.gain:
            assert 1.0 <= finding.gain.likely <= finding.gain.bound


@every_rule
@pytest.mark.parametrize("length", [0, 1, 2, 11, 60, 700])
@pytest.mark.parametrize("odd", ODD.values(), ids=ODD.keys())
def test_no_rule_fails_whatever_was_measured(rule, odd, length):
    for every_other in (False, True):
        diagnosis = diagnose(strange(odd, length, mixed=every_other), rules=[rule])

        assert not diagnosis.failed


@every_rule
def test_no_rule_fails_on_random_mixtures(rule):
    random = np.random.default_rng(7)
    for _ in range(60):
        odd, length = random.choice(list(ODD.values())), int(random.integers(0, 400))
        measurements = strange(float(odd), length, mixed=True, random=random)

        assert not diagnose(measurements, rules=[rule]).failed


def strange(odd, length, *, mixed, random=None) -> Measurements:
    """Every signal there is, with odd values and facts."""
    random = random or np.random.default_rng(length)

    def values() -> np.ndarray:
        chosen = np.full(length, odd)
        if mixed:
            plain = random.random(length) < 0.7
            chosen[plain] = random.random(plain.sum())
        return chosen

    times = START + np.arange(length) * SECOND
    per_step, sampled, facts = (
        [s for s in SIGNALS.values() if s.kind is kind and not s.is_per_gpu]
        for kind in Kind
    )
    gpu = {
        signal.name: Samples(times, values()) if signal.kind is Kind.SAMPLED else odd
        for signal in SIGNALS.values()
        if signal.is_per_gpu
    }
    return Measurements(
        steps=Steps(np.arange(length), times, {s.name: values() for s in per_step}),
        samples={signal.name: Samples(times, values()) for signal in sampled},
        facts={s.name: "plain" if s.is_text else odd for s in facts},
        gpus={0: gpu},
        gpu_count=1,
    )


def troubled_stages() -> list[Measurements]:
    waiting = {"effective_cores": 4.0, "loader_workers": 0.0}
    cpu = {"job_cpu_cores": 1.0, "job_main_cpu_cores": 1.0}
    return [
        stage(
            step_rows=steps(total=0.1, waiting=wait, count=count),
            cpu_cores=cpu,
            facts=waiting,
            gpus=1,
            gpu_percent=gpu_percent,
            gpu_memory=memory,
        )
        for wait, count, gpu_percent, memory in product(
            (0.0, 0.06), (300, 2000), (0.0, 30.0), (10 * GIB, 78 * GIB)
        )
    ]
