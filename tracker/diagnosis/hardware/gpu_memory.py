"""How much GPU memory the work needs, and recommendations to reduce it."""

from __future__ import annotations

from dataclasses import dataclass

from tracker.diagnosis.analysis.statistics import highest
from tracker.diagnosis.engine.finding import MEASURED, Recommendation
from tracker.diagnosis.engine.frameworks import (
    ON_PYTORCH,
    batch_size_line,
    memory_line,
)
from tracker.diagnosis.signals import Samples

OFF = "off"


@dataclass(frozen=True, slots=True)
class Need:
    """The peak need.

    `beside_bytes` is memory that the driver counts in addition to the framework's
    allocator: the context, libraries, and other processes.
    """

    needed_bytes: float
    total_bytes: float
    beside_bytes: float
    signal: str
    quality: float

    @property
    def share(self) -> float:
        return self.needed_bytes / self.total_bytes

    @property
    def is_of_allocator(self) -> bool:
        return self.signal != "gpu_memory_used_bytes"


def measure_need(
    used_bytes: Samples,
    total_bytes: float,
    *,
    peak_bytes: Samples | None = None,
    reserved_bytes: Samples | None = None,
) -> Need:
    """Return the peak of tensors, or the memory in use if tensors are not measured.

    Memory that an allocator reserves beyond the peak of its tensors is only cached.
    """
    used = highest(used_bytes)
    if peak_bytes is None or reserved_bytes is None:
        return Need(used, total_bytes, 0.0, "gpu_memory_used_bytes", used_bytes.quality)
    beside = max(0.0, used - highest(reserved_bytes))
    return Need(
        min(used, highest(peak_bytes) + beside),
        total_bytes,
        beside,
        "gpu_allocator_peak_bytes",
        MEASURED,
    )


def ways_to_save(
    framework: str | None,
    *,
    batch_size: float | None = None,
    autocast: str | None = None,
    suggested_batch: float | None = None,
) -> tuple[Recommendation, ...]:
    """Return recommendations that free memory, the cheapest first."""
    is_16_bit = autocast is not None and autocast != OFF
    batch = suggested_batch or (max(1, batch_size // 2) if batch_size else None)
    line = f"{batch:.0f}" if batch else "batch_size // 2"
    ways = [
        Recommendation(
            "Enable expandable segments to reduce fragmentation; it costs nothing"
            " to try.",
            code='PYTORCH_CUDA_ALLOC_CONF="expandable_segments:True" python train.py',
        )
        if framework in ON_PYTORCH
        else None,
        Recommendation(
            "Use a smaller batch with gradient accumulation, which keeps the result"
            " and costs some speed.",
            current=f"{batch_size:g}" if batch_size else "",
            suggested=line if batch else "half as large",
            code=batch_size_line(framework, line),
        ),
        None
        if is_16_bit
        else Recommendation(
            "Compute in 16 bits where the model allows it: activations take half the memory.",
            current=OFF if autocast == OFF else "",
            code=memory_line(framework) if framework != "jax" else "",
        ),
        Recommendation(
            "Recompute activations in the backward pass instead of storing them; steps"
            " take 20 to 40 % longer.",
            code=_recompute_line(framework),
        ),
        Recommendation(
            "Keep the optimizer's state in 8 bits, or shard it over the GPUs.",
            code=_sharding_line(framework),
        ),
        Recommendation(
            "If that is not enough, offload to host memory, which is slow, or use a GPU"
            " with more memory."
        ),
    ]
    return tuple(way for way in ways if way is not None)


def ways_to_let_go(framework: str | None) -> tuple[Recommendation, ...]:
    """Return common reasons for growing tensor memory, the most frequent first."""
    is_torch = framework == "pytorch"
    return (
        Recommendation(
            "Keep numbers, not tensors: a loss tensor in a sum or a list keeps its whole"
            " graph in memory.",
            code="total_loss += loss.item()" if is_torch else "",
        ),
        Recommendation(
            "Detach tensors that outlive the step, such as hidden states and targets.",
            code="hidden = hidden.detach()" if is_torch else "",
        ),
        Recommendation(
            "Evaluate without gradients, and clear lists of outputs after each epoch.",
            code="with torch.inference_mode():" if is_torch else "",
        ),
        Recommendation(
            "If the cause is another one, record all allocations with their lines of code.",
            code="torch.cuda.memory._record_memory_history()" if is_torch else "",
        ),
    )


def _recompute_line(framework: str | None) -> str:
    match framework:
        case "pytorch":
            return "torch.utils.checkpoint.checkpoint(block, x, use_reentrant=False)"
        case "tensorflow":
            return "tf.recompute_grad(block)"
        case "jax":
            return "jax.checkpoint(block)"
        case _:
            return ""


def _sharding_line(framework: str | None) -> str:
    return "torch.distributed.fsdp.fully_shard(model)" if framework == "pytorch" else ""
