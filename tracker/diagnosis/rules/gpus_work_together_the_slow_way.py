"""Slow multi-GPU setup.

## Detection
A model in PyTorch's `DataParallel` with several visible GPUs, or ranks that exchange GPU
tensors over `gloo`.

## Why it matters
`DataParallel` runs one Python process for all GPUs: it copies the model to each of them in
every step and gathers all outputs on the first. `gloo` sends tensors through host memory,
while `nccl` sends them from GPU to GPU.

## Limitations
A `gloo` group next to an `nccl` group, for small messages between CPUs, is fine; only the
default group is known.
The cost depends on the model and is known only after a test.

Catalogue: G5, DataParallel or slow backend.
"""

from __future__ import annotations

from dataclasses import dataclass

from tracker.diagnosis.engine.finding import (
    ALONE,
    MEASURED,
    ONE_GPU,
    Abstention,
    Answer,
    Evidence,
    Finding,
    Recommendation,
    Severity,
    Side,
)
from tracker.diagnosis.engine.frameworks import data_parallel_line
from tracker.diagnosis.engine.rule import Span
from tracker.diagnosis.hardware.gpu_peers import Gpus, high_end, readings_of

SPAN = Span.STAGE

WORDS = ("model_wrapper", "distributed_backend")
SLOW_WRAPPER = "DataParallel"
SLOW_BACKEND = "gloo"


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits that a project may change."""

    # Below this utilization the GPUs are not in use, and their setup does not matter.
    working_percent: float = 5.0
    fewest_gpus: int = 2


def check(
    gpus: Gpus,
    *,
    model_wrapper: str | None = None,
    distributed_backend: str | None = None,
    world_size: float | None = None,
    limits: Limits = Limits(),
) -> Answer:
    if len(gpus) < limits.fewest_gpus and (world_size or 1) < limits.fewest_gpus:
        return Abstention((ONE_GPU,))
    lacks = () if model_wrapper or distributed_backend else WORDS
    busiest = max(
        map(high_end, readings_of(gpus, "gpu_utilization_percent").values()),
        default=None,
    )
    if lacks or busiest is None:
        return Abstention(lacks or ("gpu_utilization_percent",))
    if busiest < limits.working_percent:
        return None

    work = Evidence(
        "gpu_utilization_percent",
        "utilization of the busiest GPU, 95th percentile",
        busiest,
        "%",
        limits.working_percent,
        Side.ABOVE,
    )
    if model_wrapper == SLOW_WRAPPER and len(gpus) >= limits.fewest_gpus:
        return _data_parallel(len(gpus), work)
    if distributed_backend and _backend_of_gpus(distributed_backend) == SLOW_BACKEND:
        return _over_the_host(int(world_size or 0), work)
    return None


def _backend_of_gpus(backend: str) -> str:
    """Return the backend for GPUs in a description such as `cpu:gloo,cuda:nccl`."""
    parts = [part.strip().partition(":") for part in backend.lower().split(",")]
    named = {device: name for device, colon, name in parts if colon}
    return named.get("cuda", "") if named else backend.strip().lower()


def _data_parallel(gpus: int, work: Evidence) -> Finding:
    return Finding(
        title="DataParallel is slow on several GPUs",
        severity=Severity.WARNING,
        summary=(
            f"The model uses DataParallel: one process drives {gpus} GPUs, copies"
            " the model to each of them in every step, and gathers all outputs on"
            " the first."
        ),
        evidence=(work, Evidence("gpus", "visible GPUs", float(gpus), "GPUs")),
        recommendations=(
            Recommendation(
                "Start a process for each GPU and wrap the model in"
                " DistributedDataParallel.",
                current="DataParallel",
                suggested="DistributedDataParallel",
                code="model = DistributedDataParallel(model, device_ids=[local_rank])",
            ),
            Recommendation(
                "Start the script with torchrun.",
                code=data_parallel_line("pytorch", gpus),
            ),
        ),
        disproof=(
            "Train a few hundred steps with DistributedDataParallel: if examples per"
            " second do not rise, DataParallel is not the limit."
        ),
        explains=("gpus-are-loaded-unequally",),
        quality=MEASURED,
        corroboration=ALONE,
    )


def _over_the_host(ranks: int, work: Evidence) -> Finding:
    said = f"{ranks} ranks exchange" if ranks else "Ranks exchange"
    return Finding(
        title="Ranks with GPUs use the gloo backend",
        severity=Severity.WARNING,
        summary=(f"{said} GPU tensors over gloo, through host memory."),
        evidence=(
            work,
            *(
                [Evidence("world_size", "ranks", float(ranks), "ranks")]
                if ranks
                else []
            ),
        ),
        recommendations=(
            Recommendation(
                "Use nccl for GPU tensors.",
                current="gloo",
                suggested="nccl",
                code='torch.distributed.init_process_group("cpu:gloo,cuda:nccl")',
            ),
        ),
        disproof=(
            "Train a few hundred steps over nccl: if steps take as long, the backend is"
            " not the limit."
        ),
        explains=("communication-dominates",),
        quality=MEASURED,
        corroboration=ALONE,
    )
