"""Computes the utilization of each core from /proc/stat (pure)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from seamark.probes.summary import quantile

SATURATED, IDLE = 0.9, 0.1


class CoreTimes(NamedTuple):
    """Clock ticks since the machine started."""

    busy: int
    waiting: int  # for a disk, while idle
    stolen: int  # by the host of a virtual machine

    @property
    def used(self) -> int:
        return self.busy + self.stolen


class Statistics(NamedTuple):
    """The content of /proc/stat; `whole` is the sum of all cores."""

    whole: CoreTimes
    cores: Mapping[int, CoreTimes]
    running: int | None  # running or runnable processes
    blocked: int | None  # processes waiting for a disk


def parse_statistics(text: str) -> Statistics | None:
    whole: CoreTimes | None = None
    cores: dict[int, CoreTimes] = {}
    counts: dict[str, int] = {}
    for line in text.splitlines():
        name, _, rest = line.partition(" ")
        if name == "cpu":
            whole = _times(rest)
        elif name.startswith("cpu") and name[3:].isdigit():
            cores[int(name[3:])] = _times(rest)
        elif name in ("procs_running", "procs_blocked"):
            counts[name] = int(rest)
    if whole is None:
        return None
    return Statistics(
        whole, cores, counts.get("procs_running"), counts.get("procs_blocked")
    )


def _times(text: str) -> CoreTimes:
    # Guest time is included in user time; kernels before 2.6.11 lack the last field.
    user, nice, system, _, waiting, irq, softirq, *more = map(int, text.split())
    return CoreTimes(
        user + nice + system + irq + softirq, waiting, more[0] if more else 0
    )


def core_shares(
    before: Mapping[int, CoreTimes],
    after: Mapping[int, CoreTimes],
    ticks: float,
    selected: Collection[int] | None,
) -> list[float]:
    """Return the utilization, 0 to 1, of each wanted core over a number of ticks."""
    return [
        min(1.0, max(0, times.used - before[core].used) / ticks)
        for core, times in after.items()
        if core in before and (selected is None or core in selected)
    ]


def distribution(shares: Collection[float]) -> dict[str, float]:
    """Summarize the utilization of many cores in a few metrics; empty if there are
    none.
    """
    if not shares:
        return {}
    ordered = sorted(shares)
    return {
        "cores/busiest_percent": 100 * ordered[-1],
        "cores/median_percent": 100 * quantile(ordered, 0.5),
        "cores/idlest_percent": 100 * ordered[0],
        "cores/saturated": float(sum(share >= SATURATED for share in ordered)),
        "cores/idle": float(sum(share <= IDLE for share in ordered)),
    }


def cpu_list(cpus: Sequence[int]) -> str:
    """Return sorted CPU numbers as ranges (pure)."""
    ranges: list[tuple[int, int]] = []
    for cpu in cpus:
        if ranges and cpu == ranges[-1][1] + 1:
            ranges[-1] = ranges[-1][0], cpu
        else:
            ranges.append((cpu, cpu))
    return ",".join(
        f"{low}" if low == high else f"{low}-{high}" for low, high in ranges
    )
