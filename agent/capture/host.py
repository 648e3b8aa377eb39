"""Captures facts about the machine and its job scheduler; probes measure GPUs."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from seamark.capture.facts import Facts
from seamark.lifecycle.background import importing

_LONGEST_FILE = 64 * 1024  # characters


def facts(environment: Mapping[str, str] = os.environ, root: Path = Path("/")) -> Facts:
    """Return facts about the machine; unknown ones are omitted."""
    with importing():
        import psutil  # noqa: PLC0415 - not at import
    system = os.uname()
    found: Facts = {
        "host": system.nodename,
        "kernel": f"{system.sysname} {system.release}",
        "host_memory_bytes": psutil.virtual_memory().total,
    }
    known: dict[str, str | int | None] = {
        "os": _os_name(root),
        "cpu_model": _cpu_model(root),
        "host_cores": psutil.cpu_count(),
        "physical_cores": psutil.cpu_count(logical=False),
        "container": find_container(environment, root),
        "launcher": find_launcher(environment),
        "scheduler": find_scheduler(environment),
    }
    found.update({name: value for name, value in known.items() if value})
    return found


def find_container(environment: Mapping[str, str], root: Path) -> str | None:
    """Return the kind of this container; None if it is not recognized as one."""
    for file, kind in (
        (".dockerenv", "docker"),
        ("run/.containerenv", "podman"),
        ("singularity.d", "apptainer"),
        (".singularity.d", "apptainer"),
    ):
        if (root / file).exists():
            return kind
    if "KUBERNETES_SERVICE_HOST" in environment:
        return "kubernetes"
    groups = _text(root / "proc/1/cgroup")
    for kind in ("docker", "kubepods", "lxc", "containerd", "libpod"):
        if kind in groups:
            return "kubernetes" if kind == "kubepods" else kind
    named = environment.get("container", "")
    return named[:50] or None


def find_scheduler(environment: Mapping[str, str]) -> str | None:
    """Return the scheduler of this job; None if there is none."""
    for variable, kind in (
        ("SLURM_JOB_ID", "slurm"),
        ("PBS_JOBID", "pbs"),
        ("LSB_JOBID", "lsf"),
        ("KUBERNETES_SERVICE_HOST", "kubernetes"),
    ):
        if environment.get(variable):
            return kind
    return None


def find_launcher(environment: Mapping[str, str]) -> str | None:
    """Return the launcher of a distributed run; None if there is none."""
    for variable, kind in (
        ("TORCHELASTIC_RUN_ID", "torchrun"),
        ("OMPI_COMM_WORLD_RANK", "mpirun"),
        ("DS_ACCELERATOR", "deepspeed"),
        ("SLURM_STEP_ID", "srun"),
    ):
        if environment.get(variable):
            return kind
    return None


def _os_name(root: Path) -> str | None:
    for line in _text(root / "etc/os-release").splitlines():
        name, _, value = line.partition("=")
        if name == "PRETTY_NAME":
            return value.strip("\"'")[:200] or None
    return None


def _cpu_model(root: Path) -> str | None:
    for line in _text(root / "proc/cpuinfo").splitlines():
        name, _, value = line.partition(":")
        if name.strip() in ("model name", "Model", "cpu model"):
            return value.strip()[:200] or None
    return None


def _text(path: Path) -> str:
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return file.read(_LONGEST_FILE)
    except OSError:
        return ""
