"""Several copies of the model on one GPU.

## Detection
Two or more processes of the job on the same GPU whose memory, on average, is at least the size
of the model's parameters.

## Why it matters
Each copy takes memory that larger batches or longer inputs could use, and each process has its
own CUDA context. A single process can serve all of them.

## Limitations
Only the total memory of the processes is measured: one large process and several small ones
look the same.
Processes may hold different models on purpose, or shards of one.
Loader workers that use the GPU hold a context without a model.

Catalogue: M8, duplicate model copies.
"""

from __future__ import annotations

from dataclasses import dataclass

from tracker.diagnosis.analysis.statistics import typical
from tracker.diagnosis.engine.finding import (
    ALONE,
    INFERRED,
    Abstention,
    Answer,
    Evidence,
    Finding,
    Recommendation,
    Severity,
    Side,
)
from tracker.diagnosis.engine.rule import Span
from tracker.diagnosis.engine.wording import size
from tracker.diagnosis.signals import Samples

SPAN = Span.STAGE


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits that a project may change."""

    fewest_processes: int = 2
    # Approximate memory of a process on a GPU before it allocates any tensor.
    context_bytes: int = 512 * 1024 * 1024
    # A copy of a model below this size is not worth a finding.
    smallest_model_bytes: int = 256 * 1024 * 1024


def check(
    gpu_job_processes: Samples,
    gpu_job_memory_bytes: Samples,
    model_parameter_bytes: float,
    *,
    model_wrapper: str | None = None,
    limits: Limits = Limits(),
) -> Answer:
    if model_wrapper is not None and model_wrapper.startswith("FSDP"):
        return Abstention(("a model that is not in shards",))
    if model_parameter_bytes < limits.smallest_model_bytes:
        return None
    processes = typical(gpu_job_processes)
    if not processes >= limits.fewest_processes:
        return None
    of_each = typical(gpu_job_memory_bytes) / processes - limits.context_bytes
    if not of_each >= model_parameter_bytes:
        return None

    wasted = (processes - 1) * model_parameter_bytes
    return Finding(
        severity=Severity.NOTICE,
        summary=(
            f"{processes:g} processes of the job use this GPU and hold"
            f" {size(of_each)} each on average, enough for the model of"
            f" {size(model_parameter_bytes)}. The extra copies take {size(wasted)}."
        ),
        evidence=(
            Evidence(
                "gpu_job_processes",
                "processes of the job on the GPU, median",
                processes,
                "processes",
                limits.fewest_processes,
                Side.ABOVE,
            ),
            Evidence(
                "gpu_job_memory_bytes",
                "memory per process, mean, without the CUDA context",
                of_each,
                "B",
                model_parameter_bytes,
                Side.ABOVE,
            ),
        ),
        recommendations=(
            Recommendation(
                "Let one process hold the model, and let the others send it their batches."
            ),
            Recommendation(
                "In a web service, use threads or one worker per GPU.",
                code="gunicorn --workers=1 --threads=8 app:app",
            ),
        ),
        disproof=(
            "Look at the memory of each process: if only one of them is as large as the"
            " model, there is one copy."
        ),
        quality=INFERRED,
        corroboration=ALONE,
    )
