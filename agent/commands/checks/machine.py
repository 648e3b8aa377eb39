"""Checks whether this machine can be measured."""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterator

import psutil

from seamark.commands.checks.results import Finding, fine, note
from seamark.probes.nvidia.nvml import NvmlProbe
from seamark.probes.probe import ProbeUnavailable
from seamark.servers import Environment

_OLDEST_PYTHON = (3, 10)


def look_at_machine(environment: Environment) -> Iterator[Finding]:
    """Check the probes; all other data arrives without them."""
    yield _python()
    yield _processes()
    yield _gpus(environment)


def _python() -> Finding:
    version, where = platform.python_version(), f"{platform.system()} {sys.executable}"
    if sys.version_info[:2] < _OLDEST_PYTHON:
        return note("python", f"Python {version} is too old", "use 3.10 or later")
    return fine("python", f"Python {version} ({where})")


def _processes() -> Finding:
    try:
        cores, memory = psutil.cpu_count(), psutil.virtual_memory().total
        psutil.Process().cpu_times()
    except (psutil.Error, OSError, RuntimeError) as error:
        return note("psutil", f"cannot measure processes ({error})", "see psutil")
    return fine(
        "psutil",
        f"{cores or '?'} CPU cores and {memory / 2**30:,.1f} GiB of memory",
    )


def _gpus(environment: Environment) -> Finding:
    try:
        count = NvmlProbe(environment=environment).facts().get("facts/gpu_count")
    except ProbeUnavailable as error:
        return note(
            "nvml",
            f"no GPU metrics: {error}",
            "NVIDIA GPUs need their driver, also in containers (--gpus all)",
        )
    if count is None:
        message = "no GPU metrics: the driver lost all GPUs"
        return note("nvml", message, "see nvidia-smi; they may need a reset")
    return fine("nvml", f"{count} GPUs are measured")
