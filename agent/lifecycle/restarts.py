"""Detects whether and when the job was restarted, for example after a preemption."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path

_LONGEST_COUNT = 12  # digits
_STATUS = Path("/proc/self/stat")
# Index after the program name, which may contain any characters up to its bracket.
_STARTED = 19


def resumed_at(
    environment: Mapping[str, str],
    now: float,
    *,
    override: bool | None = None,
    began: Callable[[float], float] = float,
) -> int | None:
    """Return the start of a restarted job in microseconds since 1970, else None.

    `now` is in seconds. `override` is the user's explicit setting, and `began` returns the
    start of this process for `now`.
    """
    requeues = _count(environment, "SLURM_RESTART_COUNT")
    restarts = _count(environment, "TORCHELASTIC_RESTART_COUNT")
    if override is False or not (override or requeues or restarts):
        return None
    if restarts:
        # torchrun restarts all ranks at once. When a slow rank asks, others have
        # already logged, and their points must not be hidden.
        return round(began(now) * 1_000_000)
    # The start of the current attempt of a SLURM job: earlier scripts of the job belong
    # to the same attempt.
    started = _count(environment, "SLURM_JOB_START_TIME")
    is_known = requeues and 0 < started < now
    return round((started if is_known else now) * 1_000_000)


def process_start(now: float) -> float:
    """Return the start of this process in seconds since 1970; `now` if unknown."""
    try:
        _, _, fields = _STATUS.read_text("ascii", "replace").rpartition(")")
        since_boot = int(fields.split()[_STARTED]) / os.sysconf("SC_CLK_TCK")
        age = time.clock_gettime(time.CLOCK_BOOTTIME) - since_boot
    except (OSError, ValueError, IndexError, AttributeError):
        return now
    return now - max(0.0, age)


def _count(environment: Mapping[str, str], name: str) -> int:
    text = environment.get(name, "")
    is_count = text.isascii() and text.isdigit() and len(text) <= _LONGEST_COUNT
    return int(text) if is_count else 0
