"""Whether the job was started again, as after a preemption, and when."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path

_LONGEST_COUNT = 12  # digits
_STATUS = Path("/proc/self/stat")
# Behind the name of the program, which may hold anything up to its bracket.
_STARTED = 19


def resumed_at(
    environment: Mapping[str, str],
    now: float,
    *,
    said: bool | None = None,
    began: Callable[[float], float] = float,
) -> int | None:
    """Return since when a job runs that was started again; None for one that was not.

    In microseconds since 1970; `now` in seconds. `said` is what somebody says who must
    know, and `began` tells from `now` when this process was started.
    """
    requeues = _count(environment, "SLURM_RESTART_COUNT")
    restarts = _count(environment, "TORCHELASTIC_RESTART_COUNT")
    if said is False or not (said or requeues or restarts):
        return None
    if restarts:
        # torchrun starts all ranks of a job again, at one moment. By the time that a slow
        # one asks, others have logged, and what they have logged must not be hidden.
        return round(began(now) * 1_000_000)
    # SLURM says when the job began this time; whatever a script of it did before this
    # one is of the same attempt.
    started = _count(environment, "SLURM_JOB_START_TIME")
    is_told = requeues and 0 < started < now
    return round((started if is_told else now) * 1_000_000)


def process_start(now: float) -> float:
    """Return when this process was started, in seconds since 1970; `now` if unknown."""
    try:
        _, _, said = _STATUS.read_text("ascii", "replace").rpartition(")")
        since_boot = int(said.split()[_STARTED]) / os.sysconf("SC_CLK_TCK")
        age = time.clock_gettime(time.CLOCK_BOOTTIME) - since_boot
    except (OSError, ValueError, IndexError, AttributeError):
        return now
    return now - max(0.0, age)


def _count(environment: Mapping[str, str], name: str) -> int:
    text = environment.get(name, "")
    is_count = text.isascii() and text.isdigit() and len(text) <= _LONGEST_COUNT
    return int(text) if is_count else 0
