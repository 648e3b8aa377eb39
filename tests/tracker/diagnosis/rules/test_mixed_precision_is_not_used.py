from __future__ import annotations

import pytest

from tests.tracker.diagnosis.stages import readings, stage
from tracker.diagnosis.engine.finding import AGREEING, CONTRADICTED, Abstention, Finding
from tracker.diagnosis.rules.mixed_precision_is_not_used import check


def hard(capability="9.0", facts=None, utilization=99.0, **gpu):
    gpu = {"gpu_compute_capability": capability, **gpu}
    return stage(gpus=1, gpu_percent=utilization, gpu=gpu, facts=facts)


IN_32_BITS = {"torch_autocast": "off", "model_types": "float32"}

ALARMS = [
    hard(gpu_sm_active_percent=80.0, gpu_tensor_active_percent=0.5),
    hard(facts=IN_32_BITS),
]
SILENCES = [
    hard(gpu_sm_active_percent=80.0, gpu_tensor_active_percent=40.0),
    hard(capability="6.1", facts=IN_32_BITS),
    hard(facts=IN_32_BITS, utilization=20.0),
    hard(facts={"torch_autocast": "bfloat16"}),
    hard(
        gpu_sm_active_percent=80.0,
        gpu_tensor_active_percent=0.5,
        gpu_fp32_active_percent=2.0,
    ),
]


def ask(*, capability="8.0", busy=90.0, sm=None, tensor=None, fp32=None, **more):
    def given(value):
        return None if value is None else readings(value)

    return check(
        capability,
        readings(busy),
        gpu_sm_active_percent=given(sm),
        gpu_tensor_active_percent=given(tensor),
        gpu_fp32_active_percent=given(fp32),
        **more,
    )


@pytest.mark.parametrize(
    ("signals", "is_found"),
    [
        pytest.param({"sm": 41.0, "tensor": 2.9}, True, id="just found"),
        pytest.param({"sm": 39.0, "tensor": 1.0}, False, id="little work"),
        pytest.param({"sm": 80.0, "tensor": 3.1}, False, id="tensor cores work"),
        # As float32 attention uses them on Hopper.
        pytest.param({"sm": 94.0, "tensor": 3.1, "fp32": 62.0}, True, id="beside much"),
        pytest.param(
            {"sm": 94.0, "tensor": 3.1, "fp32": 48.0}, False, id="beside less"
        ),
        # 16 bits with much other arithmetic, in a run that does not report its precision.
        pytest.param({"sm": 94.0, "tensor": 5.1, "fp32": 90.0}, False, id="16 bits"),
        pytest.param({"busy": 51.0, **IN_32_BITS}, True, id="said, and just busy"),
        pytest.param({"busy": 49.0, **IN_32_BITS}, False, id="said, and idle"),
        pytest.param({"capability": "7.0", **IN_32_BITS}, True, id="the first ones"),
        pytest.param({"capability": "6.1", **IN_32_BITS}, False, id="none there"),
    ],
)
def test_judges_near_each_limit(signals, is_found):
    assert (ask(**signals) is not None) == is_found


def test_abstains_if_the_precision_is_unknown():
    assert isinstance(ask(), Abstention)
    assert isinstance(ask(model_types="float32"), Abstention)
    assert isinstance(ask(capability="unknown", tensor=0.0, sm=80.0), Abstention)


def test_sixteen_bits_without_tensor_cores_are_another_fault():
    assert ask(sm=80.0, tensor=1.0, torch_autocast="float16") is None


@pytest.mark.parametrize(
    ("capability", "suggested", "code"),
    [
        ("9.0", "bfloat16", 'with torch.autocast("cuda", dtype=torch.bfloat16):'),
        ("7.5", "float16", 'with torch.autocast("cuda", dtype=torch.float16):'),
    ],
)
def test_recommends_the_type_that_the_card_has(capability, suggested, code):
    finding = ask(
        capability=capability, sm=80.0, tensor=0.0, framework="pytorch", **IN_32_BITS
    )

    assert isinstance(finding, Finding)
    assert finding.recommendations[-1].suggested == suggested
    assert finding.recommendations[-1].code == code


def test_the_gain_follows_from_the_cards_peaks_and_its_time_in_32_bits():
    finding = ask(
        sm=80.0, tensor=0.0, fp32=40.0, busy=100.0, gpu_name="NVIDIA A100-SXM4-80GB"
    )

    assert isinstance(finding, Finding)
    assert finding.gain is not None
    # Half of the time at sixteen times the speed.
    assert finding.gain.bound == pytest.approx(1 / (1 - 0.5 * 15 / 16))


@pytest.mark.parametrize(
    "signals",
    [
        pytest.param(IN_32_BITS, id="no counters"),
        pytest.param({"sm": 80.0, "tensor": 0.0}, id="unknown arithmetic"),
    ],
)
def test_no_gain_is_promised_where_it_cannot_be_known(signals):
    finding = ask(**signals)

    assert isinstance(finding, Finding)
    assert finding.gain is None


def test_reported_and_counted_precision_agree_or_contradict():
    agreeing = ask(sm=80.0, tensor=0.0, **IN_32_BITS)
    contradicted = ask(sm=80.0, tensor=20.0, **IN_32_BITS)

    assert isinstance(agreeing, Finding)
    assert isinstance(contradicted, Finding)
    assert agreeing.corroboration == AGREEING
    assert contradicted.corroboration == CONTRADICTED


def test_an_open_finding_stays_above_the_limit():
    assert ask(sm=80.0, tensor=4.0, already_open=True) is not None
    assert ask(sm=80.0, tensor=6.0, already_open=True) is None
