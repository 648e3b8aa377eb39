from __future__ import annotations

import pytest

from tracker.diagnosis.hardware import peaks
from tracker.diagnosis.hardware.peaks import PEAKS, capability_of, peak_of, precision_of


@pytest.mark.parametrize(
    ("name", "half"),
    [
        ("NVIDIA H100 80GB HBM3", 989.0),
        ("NVIDIA H100 PCIe", 756.0),
        ("NVIDIA H100 NVL", 835.0),
        ("NVIDIA H200", 989.0),
        ("NVIDIA H200 NVL", 835.0),
        ("NVIDIA GH200 480GB", 990.0),
        ("NVIDIA B200", 2250.0),
        ("NVIDIA GB200", 2500.0),
        ("NVIDIA A100-SXM4-80GB", 312.0),
        ("NVIDIA A100-PCIE-40GB", 312.0),
        ("NVIDIA A10G", None),
        ("NVIDIA A10", 125.0),
        ("NVIDIA L40S", 362.0),
        ("NVIDIA L40", 181.0),
        ("NVIDIA L4", 121.0),
        ("NVIDIA GeForce RTX 5090", 209.5),
        ("NVIDIA GeForce RTX 5090 D", None),
        ("NVIDIA GeForce RTX 5090 Laptop GPU", None),
        ("NVIDIA GeForce RTX 4090", 165.2),
        ("NVIDIA GeForce RTX 4090 Laptop GPU", None),
        ("NVIDIA GeForce RTX 3090 Ti", None),
        ("Tesla V100-SXM2-32GB", 125.0),
        ("Tesla T4", 65.0),
        ("NVIDIA GeForce GTX 1080", None),
        ("", None),
        (None, None),
    ],
)
def test_knows_cards_by_the_drivers_name(name, half):
    peak = peak_of(name)

    assert (peak and peak.half) == half


def test_every_card_is_faster_with_fewer_bits():
    for _, peak in PEAKS:
        assert peak.half > max(peak.tf32, peak.single)


def test_every_row_says_where_it_was_read():
    for pattern, peak in PEAKS:
        assert peak.sources, pattern
        assert all(f"`{source}`" in (peaks.__doc__ or "") for source in peak.sources)


def test_tf32_is_half_of_16_bits_where_a_card_has_it():
    for _, peak in PEAKS:
        assert not peak.tf32 or abs(peak.half / peak.tf32 - 2.0) < 0.03


def test_a_card_without_tf32_computes_in_32_bits():
    peak = peak_of("Tesla T4")

    assert peak is not None
    assert peak.of("tf32") == peak.of("float32")


@pytest.mark.parametrize(
    ("autocast", "types", "matmul", "capability", "precision"),
    [
        ("bfloat16", "float32", None, 9.0, "bfloat16"),
        (None, "bfloat16, float32", None, 9.0, "bfloat16"),
        ("off", "float32", "highest", 9.0, "float32"),
        ("off", "float32", "high", 9.0, "tf32"),
        ("off", "float32", "high", 7.5, "float32"),
        ("off", None, None, None, "float32"),
        ("off", "float64", None, 9.0, None),
        (None, "float32", "highest", 9.0, None),
        (None, None, None, None, None),
    ],
)
def test_says_in_which_type_products_are_computed(
    autocast, types, matmul, capability, precision
):
    assert precision_of(autocast, types, matmul, capability) == precision


def test_reads_compute_capabilities():
    assert capability_of("9.0") == 9.0
    assert capability_of("12.1") == 12.1
    assert capability_of("gfx942") is None
    assert capability_of(None) is None
