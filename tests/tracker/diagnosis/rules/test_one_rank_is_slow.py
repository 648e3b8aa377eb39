from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.tracker.diagnosis.stages import ranks_of, readings, stage
from tracker.diagnosis.engine.diagnosis import diagnose
from tracker.diagnosis.engine.finding import ONE_PROCESS, Abstention, Finding, Severity
from tracker.diagnosis.engine.rule import Rule
from tracker.diagnosis.rules import one_rank_is_slow
from tracker.diagnosis.rules.one_rank_is_slow import check


def slow(seconds: float, part: str = "data_wait_seconds", *, step: float = 0.1):
    """Rank 3 of 4 is slower in one part, and the others wait for it in backward."""
    parts = {"data_wait_seconds": 0.0, "copy": 0.001, "forward": 0.02, part: 0.0}
    base = {name: np.full(4, value) for name, value in parts.items()}
    base[part][3] += seconds
    backward = step - sum(base.values())
    return ranks_of(step, backward=backward, **base)


ALARMS = [stage(ranks=slow(0.03)), stage(ranks=slow(0.02, "forward"))]
SILENCES = [stage(ranks=slow(0.0)), stage(ranks=slow(0.002))]


@pytest.mark.parametrize(
    ("seconds", "severity"),
    [
        pytest.param(0.009, None, id="just too little"),
        pytest.param(0.011, Severity.WARNING, id="just enough"),
        pytest.param(0.021, Severity.CRITICAL, id="a fifth"),
    ],
)
def test_judges_near_each_limit(seconds, severity):
    finding = check(slow(seconds))

    assert (finding.severity if isinstance(finding, Finding) else None) == severity


def test_an_open_finding_stays_below_the_limit():
    assert check(slow(0.008), already_open=True) is not None


@pytest.mark.parametrize(
    ("part", "said"),
    [
        ("data_wait_seconds", "waiting for data"),
        ("copy", "copying to the GPU"),
        ("forward", "computing"),
        ("tidy_up", "outside of the timed parts"),
    ],
)
def test_names_the_part_that_takes_longer(part, said):
    finding = check(slow(0.03, part))

    assert isinstance(finding, Finding)
    assert finding.title == "Rank 3 is slow"
    assert said in finding.summary


def gpus(**of_the_last: float):
    usual = {"gpu_sm_clock_mhz": 1980.0, "gpu_other_sm_percent": 0.0}
    return {
        gpu: {
            name: readings(value)
            for name, value in (usual | (of_the_last if gpu == 3 else {})).items()
        }
        for gpu in range(4)
    }


@pytest.mark.parametrize(
    ("of_the_last", "said"),
    [
        (
            {"gpu_sm_clock_mhz": 1200.0},
            "Its GPU runs at 1200 MHz, another at 1980 MHz.",
        ),
        ({"gpu_other_sm_percent": 40.0}, "Other processes use 40 % of its GPU."),
        ({}, "100 % of the excess is computing."),
    ],
)
def test_asks_the_gpu_why_computing_takes_longer(of_the_last, said):
    finding = check(slow(0.03, "forward"), gpus=gpus(**of_the_last))

    assert isinstance(finding, Finding)
    assert finding.summary.endswith(said)


def test_gpus_that_are_not_those_of_the_ranks_are_not_asked():
    finding = check(slow(0.03, "forward"), gpus={3: gpus(gpu_sm_clock_mhz=900.0)[3]})

    assert isinstance(finding, Finding)
    assert "MHz" not in finding.summary


def test_batches_of_unequal_length_are_no_ranks_fault():
    random = np.random.default_rng(3)
    work = 0.02 + 0.06 * random.random((300, 4))
    step = np.repeat(work.max(axis=1, keepdims=True), 4, axis=1)

    assert check(ranks_of(step, forward=work, backward=step - work)) is None


def test_steps_without_parts_cannot_be_judged():
    assert check(ranks_of(0.1)) == Abstention(("phase_seconds",))
    assert check(ranks_of(0.1, forward=0.05, count=20)) == Abstention(
        ("at least 50 steps of all ranks",)
    )


def test_waits_for_a_core_hide_the_work_of_the_ranks():
    measured = slow(0.002)
    waits = np.full_like(measured.columns["step_seconds"], 0.04)
    columns = {**measured.columns, "core_wait_seconds": waits}

    assert isinstance(check(replace(measured, columns=columns)), Abstention)


def test_one_process_is_not_asked():
    alone = replace(stage(), facts={"logging_ranks": 1.0})
    rule = Rule.from_module(one_rank_is_slow)

    assert diagnose(alone, rules=[rule]).unanswered == {rule.name: (ONE_PROCESS,)}


def test_ranks_that_are_slow_together_are_named_together():
    work = np.where(np.arange(8) >= 6, 0.06, 0.03)
    finding = check(ranks_of(0.1, ranks=8, forward=work, backward=0.1 - work))

    assert isinstance(finding, Finding)
    assert finding.title == "Ranks 6 and 7 are slow"
    assert "slow ranks share" in finding.recommendations[0].text


def test_gpus_that_spin_while_a_rank_loads_are_its_symptom():
    finding = check(
        ranks_of(
            0.1, data_wait_seconds=[0.0, 0.0, 0.06, 0.0], backward=[0.1, 0.1, 0.04, 0.1]
        )
    )

    assert isinstance(finding, Finding)
    assert "waiting for data" in finding.summary
    assert "gpu-is-busy-with-little-work" in finding.explains
