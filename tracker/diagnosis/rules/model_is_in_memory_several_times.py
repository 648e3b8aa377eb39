"""Several copies of the model on one GPU.

## What it looks for
Two and more processes of the job that compute on the same GPU and hold, each on
average, at least as much memory as the model's parameters take.

## Why it matters
Each copy takes memory that larger batches or longer inputs could use, and each process
a context of its own beside it. A single process can serve them all.

## When it is wrong
What each process holds is not measured, only all of it together: a large process and
a few small ones look the same.
Processes may hold different models on purpose, or shards of one.
Loader workers that touch the GPU hold a context without any model.

Catalogue: M8, duplicate model copies.
"""

from __future__ import annotations

from tracker.diagnosis.finding import (
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
from tracker.diagnosis.rule import Span
from tracker.diagnosis.signals import Samples
from tracker.diagnosis.statistics import typical
from tracker.diagnosis.wording import size

SPAN = Span.STAGE

FEWEST_PROCESSES = 2
# What a process on a GPU takes before it holds any tensor, about.
CONTEXT_BYTES = 512 * 1024 * 1024
# Of a model this small a copy is no waste.
SMALLEST_MODEL_BYTES = 256 * 1024 * 1024


def check(
    gpu_job_processes: Samples,
    gpu_job_memory_bytes: Samples,
    model_parameter_bytes: float,
    *,
    model_wrapper: str | None = None,
) -> Answer:
    if model_wrapper is not None and model_wrapper.startswith("FSDP"):
        return Abstention(("a model that is not in shards",))
    if model_parameter_bytes < SMALLEST_MODEL_BYTES:
        return None
    processes = typical(gpu_job_processes)
    if not processes >= FEWEST_PROCESSES:
        return None
    of_each = typical(gpu_job_memory_bytes) / processes - CONTEXT_BYTES
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
                FEWEST_PROCESSES,
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
                "Let one process hold the model, and the others send it their batches."
            ),
            Recommendation(
                "In a web service, take threads or one worker for each GPU.",
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
