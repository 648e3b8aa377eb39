"""Peak performance of GPUs from the data sheets of their manufacturers.

Dense matrix products with 32-bit accumulation, in 10^12 operations per second; data
sheets print twice as much for sparse matrices. There are no estimates for other cards.

Sources, read in November 2026:

- `nvidia`: the data sheet or white paper of NVIDIA, copied word for word by a seller or a
  public repository: GH200 (https://nvdam.widen.net/s/rrgqqnpbz8), A40
  (https://images.nvidia.com/content/Solutions/data-center/a40/nvidia-a40-datasheet.pdf),
  L40 and L40S (their data sheets), RTX 6000 Ada (its data sheet: 91.1 in 32 bits, and 1457
  in 8 bits with sparsity, four times the dense 16 bits).
- `lightning`: src/lightning/fabric/utilities/throughput.py of
  Lightning-AI/pytorch-lightning, which links the data sheet of each card.
- `nanochat`: harness/runtime.py of karpathy/nanochat, after torchtitan/tools/utils.py of
  pytorch/torchtitan: 16 bits alone.
- `catalogues`: several public catalogs of cards that agree with each other.

TF32 is half of the 16-bit rate on every card that has it, by the design of Tensor Cores; this
is used if no source has a value (A30, NVL cards, RTX 3090, 4090 and 5090).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

TERA = 1e12

# Minimum compute capability for TF32 and bfloat16.
AMPERE = 8.0


@dataclass(frozen=True, slots=True)
class Peak:
    """`tf32` is 0 if the card has no such mode; `sources` are listed in the module docstring."""

    half: float  # bfloat16 or float16
    tf32: float
    single: float
    sources: tuple[str, ...]

    def of(self, precision: str) -> float:
        """Return operations per second for matrix products in this precision."""
        match precision:
            case "bfloat16" | "float16":
                return self.half * TERA
            case "tf32":
                return (self.tf32 or self.single) * TERA
            case _:
                return self.single * TERA


# The first pattern that matches the driver's name counts, so special names come first.
PEAKS = (
    (r"\bGB200\b", Peak(2500.0, 1250.0, 80.0, ("nvidia", "nanochat"))),
    (r"\bB200\b", Peak(2250.0, 1125.0, 75.0, ("nvidia", "nanochat"))),
    (r"\bH[12]00 NVL\b", Peak(835.0, 417.0, 60.0, ("nanochat", "catalogues"))),
    (r"\bGH200\b", Peak(990.0, 494.0, 67.0, ("nvidia",))),
    (r"\bH200\b", Peak(989.0, 494.0, 67.0, ("nanochat", "catalogues"))),
    (r"\bH100 PCIe\b", Peak(756.0, 378.0, 51.0, ("lightning", "nanochat"))),
    (r"\bH100\b", Peak(989.0, 494.0, 67.0, ("lightning", "nanochat"))),
    (r"\bA100\b", Peak(312.0, 156.0, 19.5, ("lightning", "nanochat"))),
    (r"\bA30\b", Peak(165.0, 82.0, 10.3, ("nanochat", "catalogues"))),
    (r"\bA40\b", Peak(149.7, 74.8, 37.4, ("nvidia", "nanochat"))),
    (r"\bA10\b", Peak(125.0, 62.5, 31.2, ("lightning",))),
    (r"\bRTX A6000\b", Peak(154.8, 77.4, 38.7, ("lightning", "catalogues"))),
    (r"\bRTX 6000 Ada\b", Peak(364.2, 182.1, 91.1, ("nvidia",))),
    (r"\bL40S\b", Peak(362.0, 183.0, 91.6, ("nvidia", "nanochat"))),
    (r"\bL40\b", Peak(181.0, 90.5, 90.5, ("nvidia", "lightning"))),
    (r"\bL4\b", Peak(121.0, 60.0, 30.3, ("lightning", "nanochat"))),
    (
        r"\bRTX 5090\b(?! Laptop| D\b)",
        Peak(209.5, 104.8, 104.8, ("nanochat", "catalogues")),
    ),
    (
        r"\bRTX 4090\b(?! Laptop| D\b)",
        Peak(165.2, 82.6, 82.6, ("nanochat", "lightning")),
    ),
    (r"\bRTX 3090\b(?! Ti)", Peak(71.0, 35.6, 35.6, ("nanochat", "lightning"))),
    (r"\bV100-SXM2\b", Peak(125.0, 0.0, 15.7, ("lightning",))),
    (r"\bV100-PCIE\b", Peak(112.0, 0.0, 14.0, ("lightning",))),
    (r"\bT4\b", Peak(65.0, 0.0, 8.1, ("lightning",))),
)


def peak_of(gpu_name: str | None) -> Peak | None:
    for pattern, peak in PEAKS:
        if gpu_name and re.search(pattern, gpu_name):
            return peak
    return None


def precision_of(
    autocast: str | None,
    parameter_types: str | None,
    matmul_precision: str | None,
    compute_capability: float | None,
    *,
    ampere: float = AMPERE,
) -> str | None:
    """Return the data type of matrix products; None if unknown.

    `parameter_types` are joined by commas. For a 32-bit model it is unknown whether autocast
    is active, unless `autocast` is given.
    """
    if autocast in ("bfloat16", "float16"):
        return autocast
    types = {part.strip() for part in (parameter_types or "").split(",")} - {""}
    halves = [name for name in ("bfloat16", "float16") if name in types]
    if halves:
        return halves[0]
    if autocast != "off" or (types and types != {"float32"}):
        return None
    has_tf32 = compute_capability is not None and compute_capability >= ampere
    if has_tf32 and matmul_precision in ("high", "medium"):
        return "tf32"
    return "float32"


def capability_of(compute_capability: str | None) -> float | None:
    """Return a compute capability such as 9.0 as a number; None if it is not valid."""
    if not re.fullmatch(r"\d{1,2}\.\d", compute_capability or ""):
        return None
    return float(compute_capability or "")
