"""The GPU jobs: one function for each case, registered here.

Sizes depend on the card's speed: see `fitted` in training.py.
"""

from __future__ import annotations

from collections.abc import Callable

from evaluation.synthetic.gpu.jobs import healthy, idle, memory, serving, speed
from evaluation.synthetic.gpu.training import Setting

# By the name of the case.
JOBS: dict[str, Callable[[Setting], None]] = {
    "tiny-batch": speed.tiny_batch,
    "small-kernels": speed.small_kernels,
    "float32": speed.float32,
    "eager-overhead": speed.eager_overhead,
    "item-each-step": speed.item_each_step,
    "pageable-copies": speed.pageable_copies,
    "nearly-full": memory.nearly_full,
    "device-leak": memory.device_leak,
    "slow-device-leak": memory.slow_device_leak,
    "fragmentation": memory.fragmentation,
    "out-of-memory": memory.out_of_memory,
    "copies-of-a-model": serving.copies_of_a_model,
    "cpu-stage": idle.cpu_stage,
    "idle-with-memory": idle.idle_with_memory,
    "healthy-gpu-large-model": healthy.large_model,
    "healthy-gpu-convolutions": healthy.convolutions,
    "healthy-gpu-fine-tuning": healthy.fine_tuning,
    "healthy-gpu-checkpoints": healthy.checkpoints,
}
