from __future__ import annotations

import pytest

from tests.tracker.diagnosis.stages import stage
from tracker.diagnosis.engine.finding import MEASURED
from tracker.diagnosis.rules.gpu_is_a_slice import check


def named(name, **more):
    return stage(gpus=1, gpu={"gpu_name": name} | more)


ALARMS = [
    named("NVIDIA A100-SXM4-80GB", gpu_is_mig_on=1.0),
    named("NVIDIA A40-48Q"),
]
SILENCES = [
    named("NVIDIA H100 80GB HBM3", gpu_is_mig_on=0.0),
    named("NVIDIA GeForce RTX 4090"),
]


@pytest.mark.parametrize(
    ("name", "is_slice"),
    [
        ("GRID V100-8Q", True),
        ("NVIDIA A100-3-20C", True),
        ("NVIDIA A100-PCIE-40GB", False),
        ("Tesla V100-SXM2-32GB", False),
        ("Quadro RTX 6000", False),
        ("NVIDIA A10G", False),
        ("", False),
    ],
)
def test_virtual_gpus_are_known_by_their_names(name, is_slice):
    assert (check(name) is not None) == is_slice


@pytest.mark.parametrize(
    ("name", "said", "is_slice"),
    [
        ("NVIDIA H100 80GB HBM3", "vgpu", True),
        ("NVIDIA A40-48Q", "vgpu", True),
        ("GRID V100-8Q", "none", False),
        ("NVIDIA H100 80GB HBM3", "passthrough", False),
    ],
)
def test_the_drivers_value_overrides_the_name(name, said, is_slice):
    finding = check(name, gpu_virtualization=said)

    assert (finding is not None) == is_slice
    if finding is not None:
        assert finding.quality == MEASURED
        assert "By its name" not in finding.summary
