"""How busy other programs keep the machine, from /proc/stat."""

from __future__ import annotations

import os
import time
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")
_IDLE = (3, 4)  # idle and iowait, in the order of proc(5)
_COUNTED = 8  # guest time is part of user time

QUIET_CORES = 0.10
QUIET_SECONDS = 5.0


def busy_seconds() -> float:
    """Return CPU seconds that all programs used since boot, time stolen included."""
    values = Path("/proc/stat").read_text().splitlines()[0].split()[1:]
    used = (int(v) for n, v in enumerate(values[:_COUNTED]) if n not in _IDLE)
    return sum(used) / _TICKS


def wait_until_quiet(patience_seconds: float) -> bool:
    """Wait for 5 s in which other programs use less than a tenth of a core."""
    until = time.monotonic() + patience_seconds
    while time.monotonic() < until:
        began, before = time.monotonic(), busy_seconds()
        time.sleep(QUIET_SECONDS)
        if (busy_seconds() - before) / (time.monotonic() - began) < QUIET_CORES:
            return True
    return False
