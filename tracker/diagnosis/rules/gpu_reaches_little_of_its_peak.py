"""Low model FLOPs utilization.

## Detection
The operations per second of the model, below 30 % of the peak of the GPU in the data type
that the run uses.

## Why it matters
MFU is the one utilization metric that counts only useful work. Well-optimized dense training
reaches 30 to 60 %.

## Limitations
The result depends on the reported number of operations per example. Recomputed activations
count once. If the run does not report its precision, the 32-bit peak is used, so the true
share is lower. Networks with little dense arithmetic cannot reach a high share. Cards with
an unknown data sheet are not judged.

Catalogue: C13, low MFU.
"""

from __future__ import annotations

from dataclasses import dataclass

from tracker.diagnosis.analysis.statistics import margin_below
from tracker.diagnosis.engine.finding import (
    COARSE,
    MEASURED,
    Abstention,
    Answer,
    Evidence,
    Finding,
    Recommendation,
    Severity,
    Side,
)
from tracker.diagnosis.engine.wording import percent
from tracker.diagnosis.hardware.achieved import Achieved, measure_achieved
from tracker.diagnosis.hardware.gpu_work import takes_part
from tracker.diagnosis.hardware.peaks import peak_of
from tracker.diagnosis.signals import Array, Samples

# One process feeds several GPUs; the work of each is unknown.
SHARING = ("DataParallel",)


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits that a project may change."""

    low_share: float = 0.30
    low_release_share: float = 0.33

    # A share above 1 means that the reported operations per example are wrong.
    max_share: float = 1.0


def check(
    step_seconds: Array,
    gpu_utilization_percent: Samples,
    gpu_name: str,
    model_flops_per_example: float,
    *,
    step_examples: Array | None = None,
    batch_size: float | None = None,
    torch_autocast: str | None = None,
    model_types: str | None = None,
    torch_matmul_precision: str | None = None,
    gpu_compute_capability: str | None = None,
    model_wrapper: str | None = None,
    already_open: bool = False,
    limits: Limits = Limits(),
) -> Answer:
    if peak_of(gpu_name) is None:
        return Abstention((f"the peak of a {gpu_name}",))
    if model_wrapper in SHARING:
        return Abstention(("a process for each GPU",))
    achieved = measure_achieved(
        step_seconds,
        model_flops_per_example,
        gpu_name,
        step_examples=step_examples,
        batch_size=batch_size,
        torch_autocast=torch_autocast,
        model_types=model_types,
        torch_matmul_precision=torch_matmul_precision,
        gpu_compute_capability=gpu_compute_capability,
    )
    if achieved is None:
        return Abstention(("step_examples", "batch_size"))
    if achieved.is_precision_known and achieved.share > limits.max_share:
        return Abstention(("operations per example that the GPU can compute",))
    limit = limits.low_release_share if already_open else limits.low_share
    if achieved.share >= limit or not takes_part(gpu_utilization_percent):
        return None
    return _finding(achieved, limits)


def _finding(achieved: Achieved, limits: Limits) -> Finding:
    return Finding(
        severity=Severity.NOTICE,
        summary=(
            f"Training reaches {percent(achieved.share)} of the peak of the GPU:"
            f" {achieved.in_words()}."
        ),
        evidence=(
            Evidence(
                "model_flops_per_example",
                "operations per second, share of the peak",
                achieved.share,
                "share",
                limits.low_share,
                Side.BELOW,
                release=limits.low_release_share,
            ),
        ),
        recommendations=(
            Recommendation(
                "Fix the other findings first: most of them keep the GPU from its peak."
            ),
            Recommendation(
                "Compile the model, use sizes that are multiples of 64 (layers, heads,"
                " vocabulary), and fused attention and optimizers."
            ),
        ),
        disproof=(
            "Count the operations of one step with a profiler: if there are several"
            " times as many, the reported number is wrong."
        ),
        comes_after=("data-wait-dominates",),
        quality=MEASURED if achieved.is_precision_known else COARSE,
        margin=margin_below(achieved.share, limits.low_share),
    )
