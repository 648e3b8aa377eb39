"""How much of a GPU's memory the work needs, and what to do where it is too little."""

from __future__ import annotations

from dataclasses import dataclass

from tracker.diagnosis.analysis.statistics import highest
from tracker.diagnosis.engine.finding import MEASURED, Recommendation
from tracker.diagnosis.engine.frameworks import batch_size_line, memory_line
from tracker.diagnosis.signals import Samples

OFF = "off"


@dataclass(frozen=True, slots=True)
class Need:
    """The most that was needed at a time.

    `beside_bytes` is what the driver counts beyond the framework's allocator: the
    context, libraries, and processes of others.
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
    """Return what tensors needed, or what was in use where nobody knows of tensors.

    An allocator keeps what it once had; what it holds beyond its tensors' peak is there
    for the next ones.
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
    """Return what makes room, the cheapest first."""
    is_16_bit = autocast is not None and autocast != OFF
    batch = suggested_batch or (max(1, batch_size // 2) if batch_size else None)
    line = f"{batch:.0f}" if batch else "batch_size // 2"
    ways = [
        Recommendation(
            "Let the allocator grow its pieces instead of collecting pieces that fit"
            " nothing; it costs nothing to try.",
            code='PYTORCH_CUDA_ALLOC_CONF="expandable_segments:True" python train.py',
        )
        if framework == "pytorch"
        else None,
        Recommendation(
            "Take a smaller batch and add up the gradients of several, which keeps the"
            " result and costs some speed.",
            current=f"{batch_size:g}" if batch_size else "",
            suggested=line if batch else "half as large",
            code=batch_size_line(framework, line),
        ),
        None
        if is_16_bit
        else Recommendation(
            "Compute in 16 bits where the model allows it: activations take half.",
            current=OFF if autocast == OFF else "",
            code=memory_line(framework) if framework != "jax" else "",
        ),
        Recommendation(
            "Recompute activations in the backward pass instead of keeping them; steps"
            " take 20 to 40 % longer.",
            code=_recompute_line(framework),
        ),
        Recommendation(
            "Keep the optimizer's state in 8 bits, or share it among the GPUs.",
            code=_sharding_line(framework),
        ),
        Recommendation(
            "What still does not fit can be kept in host memory, which is slow, or"
            " needs a GPU with more."
        ),
    ]
    return tuple(way for way in ways if way is not None)


def ways_to_let_go(framework: str | None) -> tuple[Recommendation, ...]:
    """Return what may keep tensors from step to step, the most frequent first."""
    is_torch = framework == "pytorch"
    return (
        Recommendation(
            "Keep numbers, not tensors: a loss that is added up or put into a list"
            " holds all that it was computed from.",
            code="total_loss += loss.item()" if is_torch else "",
        ),
        Recommendation(
            "Detach what outlives the step, such as hidden states and targets.",
            code="hidden = hidden.detach()" if is_torch else "",
        ),
        Recommendation(
            "Evaluate without gradients, and empty lists of outputs after each epoch.",
            code="with torch.inference_mode():" if is_torch else "",
        ),
        Recommendation(
            "If it is none of these, record what is allocated and by which line.",
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
