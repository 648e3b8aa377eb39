"""Counters of AMD GPUs: time with lower clocks by reason, PCIe link, processes.

The library's own call about violations sleeps 100 ms between two samples of these
counters; here the previous sample is used instead.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from seamark.probes.rates import Growths, Rates

# Paths under gpu/<i>/ and the firmware's name of each counter.
LIMITS = {
    "limited/power_share": "ppt_residency_acc",
    "limited/thermal_share": "socket_thm_residency_acc",
    "limited/processor_hot_share": "prochot_residency_acc",
    "limited/voltage_regulator_share": "vr_thm_residency_acc",
    "limited/memory_thermal_share": "hbm_thm_residency_acc",
}
_TIME = "accumulation_counter"
# PCIe generation by megatransfers per second and lane.
_SPEEDS = {2_500: 1, 5_000: 2, 8_000: 3, 16_000: 4, 32_000: 5, 64_000: 6}
_BYTES_OF_MEGABIT = 1e6 / 8
_NANOSECOND = 1e-9
_MAX_PERCENT = 100.0

Readings = dict[str, float | None]


def number(value: object, factor: float = 1.0) -> float | None:
    """Return a number; None for the text "N/A" of missing values."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value) * factor


def limits_between(before: Mapping[str, Any], after: Mapping[str, Any]) -> Readings:
    """Return the share of time of each reason between two samples (pure)."""
    began, ended = number(before.get(_TIME)), number(after.get(_TIME))
    # After a reset of the counter the growth is unknown.
    if began is None or ended is None or not ended > began:
        return {}
    shares: Readings = {}
    for path, name in LIMITS.items():
        first, last = number(before.get(name)), number(after.get(name))
        if first is not None and last is not None and last >= first:
            shares[path] = min(1.0, (last - first) / (ended - began))
    return shares


class Link:
    """The card's PCIe link: speed, traffic and errors."""

    def __init__(self, growths: Growths) -> None:
        """`growths` are the counters of this GPU since the agent began."""
        self._growths = growths

    def __call__(self, metric: Mapping[str, Any]) -> Readings:
        """Return metrics from the result of `amdsmi_get_pcie_info`."""
        sent, received = (
            number(metric.get(f"pcie_nak_{way}_count")) for way in ("sent", "received")
        )
        counts = {
            "pcie_replays": number(metric.get("pcie_replay_count")),
            "pcie_recoveries": number(metric.get("pcie_l0_to_recovery_count")),
            "pcie_naks": None if sent is None or received is None else sent + received,
        }
        return {
            "pcie_width": number(metric.get("pcie_width")),
            "pcie_generation": generation_of(metric.get("pcie_speed")),
            "pcie_bytes_per_second": number(
                metric.get("pcie_bandwidth"), _BYTES_OF_MEGABIT
            ),
            **{path: self._growths[path].of(count) for path, count in counts.items()},
        }


def generation_of(megatransfers: object) -> float | None:
    speed = number(megatransfers)
    generation = None if speed is None else _SPEEDS.get(int(speed))
    return None if generation is None else float(generation)


class Shares:
    """The share of a GPU's time used by the job's processes and by others."""

    def __init__(self) -> None:
        self._rates = Rates()
        self._seen: set[int] = set()

    def __call__(
        self,
        processes: Sequence[Mapping[str, Any]],
        own: Collection[int] | None,
        now: float,
    ) -> Readings:
        """`own` are the job's PIDs; None if the driver's may be from another namespace."""
        busy = {
            int(process["pid"]): number(process["engine_usage"].get("gfx"), _NANOSECOND)
            for process in processes
            if isinstance(process.get("engine_usage"), Mapping)
        }
        # Ended processes are dropped, because their PIDs may be reused.
        ended, self._seen = self._seen - busy.keys(), set(busy)
        if ended:
            self._rates.forget(str(pid) for pid in ended)
        rates = self._rates.of({str(pid): time for pid, time in busy.items()}, now)
        if own is None or len(busy) < len(processes):
            return {}
        shares: Readings = {}
        for owner, is_own in (("job", True), ("other", False)):
            theirs = [rates[str(pid)] for pid in busy if (pid in own) is is_own]
            known = [rate for rate in theirs if rate is not None]
            # Without processes the share is 0; the share of a new process is not known
            # yet.
            if len(known) == len(theirs):
                total = _MAX_PERCENT * sum(known)
                shares[f"{owner}_sm_percent"] = min(_MAX_PERCENT, total)
        return shares
