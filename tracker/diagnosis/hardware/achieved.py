"""MFU: model operations per second as a share of the GPU's peak.

Recomputed operations, for example in activation checkpointing, count once.
"""

from __future__ import annotations

from dataclasses import dataclass

from tracker.diagnosis.analysis.statistics import average
from tracker.diagnosis.hardware.peaks import TERA, capability_of, peak_of, precision_of
from tracker.diagnosis.signals import Array


@dataclass(frozen=True, slots=True)
class Achieved:
    flops_per_second: float
    peak: float
    precision: str
    is_precision_known: bool

    @property
    def share(self) -> float:
        return self.flops_per_second / self.peak

    def in_words(self) -> str:
        said = self.precision if self.is_precision_known else "32 bits"
        return (
            f"{self.flops_per_second / TERA:.3g} of {self.peak / TERA:.3g} TFLOP/s in"
            f" {said}"
        )


def measure_achieved(
    step_seconds: Array,
    flops_per_example: float | None,
    gpu_name: str | None,
    *,
    step_examples: Array | None = None,
    batch_size: float | None = None,
    torch_autocast: str | None = None,
    model_types: str | None = None,
    torch_matmul_precision: str | None = None,
    gpu_compute_capability: str | None = None,
) -> Achieved | None:
    """Return None if operations, examples or the card are unknown.

    With an unknown precision the 32-bit peak is used; the true share is then lower.
    """
    peak = peak_of(gpu_name)
    examples = (
        average(step_examples) if step_examples is not None else batch_size or 0.0
    )
    seconds = average(step_seconds)
    flops = (flops_per_example or 0.0) * examples
    if peak is None or not flops > 0 or not seconds > 0:
        return None
    precision = precision_of(
        torch_autocast,
        model_types,
        torch_matmul_precision,
        capability_of(gpu_compute_capability),
    )
    return Achieved(
        flops_per_second=flops / seconds,
        peak=peak.of(precision or "float32"),
        precision=precision or "float32",
        is_precision_known=precision is not None,
    )
