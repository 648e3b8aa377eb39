"""Every rule the tracker knows, in the order findings of equal weight are shown."""

from __future__ import annotations

from tracker.diagnosis.rule import Rule
from tracker.diagnosis.rules import (
    data_wait_dominates,
    gpu_memory_is_nearly_full,
    gpu_memory_is_underused,
    gpu_reserved_during_cpu_stage,
    preprocessing_is_cpu_bound,
    too_few_loader_workers,
)

RULES = tuple(
    Rule.from_module(module)
    for module in (
        too_few_loader_workers,
        preprocessing_is_cpu_bound,
        data_wait_dominates,
        gpu_memory_is_nearly_full,
        gpu_reserved_during_cpu_stage,
        gpu_memory_is_underused,
    )
)
