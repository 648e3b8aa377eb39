"""Whether the job was started again, as after a preemption, and when (pure)."""

from __future__ import annotations

import re
from collections.abc import Mapping

from agent.errors import InvalidSetting

_COUNT = re.compile(r"[0-9]{1,12}")


def resumed_at(environment: Mapping[str, str], now: float) -> int | None:
    """Return since when a job runs that was started again; None for one that was not.

    In microseconds since 1970; `now` in seconds.
    """
    said = environment.get("SEAMARK_RESUMED") or ""
    if said not in ("", "yes", "no"):
        raise InvalidSetting("SEAMARK_RESUMED", "must be yes or no")
    requeues = _count(environment, "SLURM_RESTART_COUNT")
    restarts = _count(environment, "TORCHELASTIC_RESTART_COUNT")
    if said == "no" or not (said or requeues or restarts):
        return None
    # SLURM says when the job began this time; whatever a script of it did before this
    # one is of the same attempt. torchrun starts processes again within a job.
    began = _count(environment, "SLURM_JOB_START_TIME")
    is_told = requeues and not restarts and 0 < began < now
    return round((began if is_told else now) * 1_000_000)


def _count(environment: Mapping[str, str], name: str) -> int:
    text = environment.get(name, "")
    return int(text) if _COUNT.fullmatch(text) else 0
