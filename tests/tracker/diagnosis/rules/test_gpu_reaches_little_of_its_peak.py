from __future__ import annotations

import numpy as np
import pytest

from tests.tracker.diagnosis.stages import readings, stage
from tracker.diagnosis.engine.finding import Abstention, Finding
from tracker.diagnosis.rules.gpu_reaches_little_of_its_peak import check

A100 = "NVIDIA A100-SXM4-80GB"
TERA = 1e12


def training(flops, *, utilization=90.0):
    """Steps of 0.1 s with 32 examples each, in bfloat16."""
    return stage(
        gpus=1,
        gpu_percent=utilization,
        gpu={"gpu_name": A100},
        facts={
            "model_flops_per_example": flops,
            "batch_size": 32.0,
            "torch_autocast": "bfloat16",
        },
    )


ALARMS = [training(0.1 * TERA)]
SILENCES = [training(0.5 * TERA), training(0.1 * TERA, utilization=0.0)]


def ask(share, *, name=A100, **more):
    """Steps of one second with one example, at a share of the peak in bfloat16."""
    more = {"batch_size": 1.0, "torch_autocast": "bfloat16", **more}
    return check(np.full(100, 1.0), readings(90.0), name, share * 312 * TERA, **more)


@pytest.mark.parametrize(
    ("share", "is_found"),
    [pytest.param(0.29, True, id="just"), pytest.param(0.31, False, id="just not")],
)
def test_judges_near_its_limit(share, is_found):
    assert (ask(share) is not None) == is_found


@pytest.mark.parametrize(
    "signals",
    [
        pytest.param({"name": "Some card"}, id="a card that is not known"),
        pytest.param({"batch_size": None}, id="examples that are not known"),
        pytest.param({"model_wrapper": "DataParallel"}, id="GPUs that share a process"),
        pytest.param({"share": 1.5}, id="more than the card can"),
    ],
)
def test_is_not_judged_where_something_is_unknown(signals):
    assert isinstance(ask(**{"share": 0.1, **signals}), Abstention)


def test_always_says_what_the_share_is_of():
    finding = ask(0.1)

    assert isinstance(finding, Finding)
    assert "10 % of the peak of the GPU" in finding.summary
    assert "31.2 of 312 TFLOP/s in bfloat16" in finding.summary


def test_without_a_known_type_the_peak_is_that_of_32_bits():
    # 3.12 of 19.5 TFLOP/s, and a smaller share of any other peak.
    finding = ask(0.01, torch_autocast=None)

    assert isinstance(finding, Finding)
    assert "in 32 bits" in finding.summary
    assert finding.quality < 1.0
    assert ask(0.10, torch_autocast=None) is None


def test_counted_examples_are_better_than_the_loaders_word():
    finding = ask(0.1, step_examples=np.full(100, 2.0))

    assert isinstance(finding, Finding)
    assert finding.evidence[0].value == pytest.approx(0.2)


def test_an_open_finding_stays_above_the_limit():
    assert ask(0.32, already_open=True) is not None
    assert ask(0.34, already_open=True) is None
