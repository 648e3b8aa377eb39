from __future__ import annotations

import pytest

from tests.tracker.diagnosis.stages import stage
from tracker.diagnosis.engine.finding import Abstention, Finding, Severity
from tracker.diagnosis.rules.software_does_not_fit_the_gpu import check


def installed(capability="9.0", **facts):
    return stage(gpus=1, gpu={"gpu_compute_capability": capability}, facts=facts)


ALARMS = [
    installed(gpu_driver="470.82.01", torch_cuda="12.4"),
    installed(gpu_driver="580.65.06", torch_cuda="13.0", capability="7.0"),
    installed(gpu_driver="580.65.06", torch_version="2.9.0+cpu"),
]
SILENCES = [installed(gpu_driver="580.65.06", torch_cuda="12.8")]


def ask(driver, cuda, *, capability="9.0", **more):
    gpus = {0: {"gpu_compute_capability": capability}}
    return check(gpus, driver, torch_cuda=cuda, **more)


@pytest.mark.parametrize(
    ("driver", "cuda", "severity"),
    [
        pytest.param("525.60.13", "12.9", None, id="the oldest driver of CUDA 12"),
        pytest.param("520.61.05", "12.1", Severity.WARNING, id="one branch before"),
        pytest.param("575.57.08", "13.0", Severity.WARNING, id="too old for CUDA 13"),
        pytest.param("450.80.02", "11.8", None, id="the oldest driver of CUDA 11"),
        pytest.param("580.65.06", "11.8", None, id="newer than the CUDA"),
    ],
)
def test_a_cuda_needs_its_driver(driver, cuda, severity):
    finding = ask(driver, cuda)

    assert (finding.severity if isinstance(finding, Finding) else None) == severity


def test_a_driver_of_an_older_minor_version_is_a_notice():
    finding = ask("535.54.03", "12.8", gpu_driver_cuda="12.2")

    assert isinstance(finding, Finding)
    assert finding.severity == Severity.NOTICE
    assert finding.gain is None


@pytest.mark.parametrize(
    ("capability", "cuda", "is_found"),
    [
        pytest.param("9.0", "11.7", True, id="Hopper, a CUDA too early"),
        pytest.param("9.0", "11.8", False, id="Hopper, its first CUDA"),
        pytest.param("12.0", "12.6", True, id="Blackwell, a CUDA too early"),
        pytest.param("12.0", "12.8", False, id="Blackwell, its first CUDA"),
        pytest.param("7.0", "13.0", True, id="Volta, no longer"),
        pytest.param("7.5", "13.0", False, id="Turing, still"),
        pytest.param("6.1", "12.4", False, id="Pascal, still"),
    ],
)
def test_a_cuda_knows_some_cards(capability, cuda, is_found):
    assert (ask("590.44", cuda, capability=capability) is not None) == is_found


@pytest.mark.parametrize(
    ("driver", "cuda"),
    [("", "12.4"), ("580.65", None), ("580.65", "14.0"), ("580.65", "rocm")],
)
def test_versions_missing_from_the_table_are_not_judged(driver, cuda):
    assert isinstance(ask(driver, cuda), Abstention)


def test_a_build_without_cuda_is_named():
    finding = ask("580.65", None, torch_version="2.9.0+cpu")

    assert isinstance(finding, Finding)
    assert finding.title == "PyTorch is built without CUDA"
