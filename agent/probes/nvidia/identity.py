"""Static facts about an NVIDIA GPU, read once."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

from seamark.probes.machine.cores import cpu_list
from seamark.probes.nvidia.driver import GpuLost, NotNow, NotOffered, as_text, ask
from seamark.probes.nvidia.fields import FieldValues
from seamark.probes.nvidia.polled import links_up, memory_info, requested_limit
from seamark.probes.reading import Fact
from seamark.recording.values import Value

_MILLIWATTS = 1000.0
_AFFINITY_WORDS, _WORD_BITS = 64, 64  # 4,096 CPUs
_NODE_WORDS = 16  # 1,024 NUMA nodes
_DEVICES = Path("/sys/bus/pci/devices")
_COUNTS = {
    "cores": "nvmlDeviceGetNumGpuCores",
    "memory_bus_bits": "nvmlDeviceGetMemoryBusWidth",
    "pcie_generation_max": "nvmlDeviceGetMaxPcieLinkGeneration",
    "pcie_generation_of_card": "nvmlDeviceGetGpuMaxPcieLinkGeneration",
    "pcie_width_max": "nvmlDeviceGetMaxPcieLinkWidth",
}
_WATTS = {
    "power_limit_watts": "nvmlDeviceGetEnforcedPowerLimit",
    "power_limit_default_watts": "nvmlDeviceGetPowerManagementDefaultLimit",
}
_THRESHOLDS = {
    "temperature_slowdown_celsius": "SLOWDOWN",
    "temperature_shutdown_celsius": "SHUTDOWN",
    "temperature_max_celsius": "GPU_MAX",
    "memory_temperature_max_celsius": "MEM_MAX",
}
_CLOCKS = {
    "sm_clock_max_mhz": "NVML_CLOCK_SM",
    "memory_clock_max_mhz": "NVML_CLOCK_MEM",
}
# Since Ada, cards report the margin to a temperature limit instead of the limit.
_MARGINS = {
    "temperature_slowdown_margin_celsius": "TEMPERATURE_SLOWDOWN_TLIMIT",
    "temperature_shutdown_margin_celsius": "TEMPERATURE_SHUTDOWN_TLIMIT",
    "temperature_max_margin_celsius": "TEMPERATURE_GPU_MAX_TLIMIT",
    "memory_temperature_max_margin_celsius": "TEMPERATURE_MEM_MAX_TLIMIT",
}

FACTS = tuple(
    Fact(f"facts/gpu/<i>/{path}", kind, meaning)
    for path, kind, meaning in (
        ("name", "string", ""),
        ("uuid", "string", ""),
        ("pci_bus", "string", "PCI address"),
        ("architecture", "string", "NVIDIA, for example `hopper`"),
        ("compute_capability", "string", "for example `9.0`"),
        (
            "virtualization",
            "string",
            "`none`, `passthrough` (whole card in a virtual machine), `vgpu` (part of a card), `host_vgpu` or `host_vsga`",
        ),
        ("cores", "int", "CUDA cores"),
        ("memory_total_bytes", "int", ""),
        ("memory_bus_bits", "int", "width of the memory bus"),
        ("power_limit_watts", "float", "enforced at the start"),
        ("power_limit_default_watts", "float", "the manufacturer's default"),
        ("power_limit_min_watts", "float", "allowed range"),
        ("power_limit_max_watts", "float", "allowed range"),
        (
            "power_limit_requested_watts",
            "float",
            "requested at the start",
        ),
        ("temperature_slowdown_celsius", "float", "slowdown temperature"),
        ("temperature_shutdown_celsius", "float", "shutdown temperature"),
        ("temperature_max_celsius", "float", "maximum operating temperature"),
        (
            "memory_temperature_max_celsius",
            "float",
            "maximum operating temperature of the memory",
        ),
        (
            "temperature_slowdown_margin_celsius",
            "float",
            "value of `temperature_margin_celsius` at slowdown (Ada and later); may be negative",
        ),
        ("temperature_shutdown_margin_celsius", "float", "the same at shutdown"),
        (
            "temperature_max_margin_celsius",
            "float",
            "the same at reduced clocks",
        ),
        ("memory_temperature_max_margin_celsius", "float", "the same for the memory"),
        ("sm_clock_max_mhz", "float", ""),
        ("memory_clock_max_mhz", "float", ""),
        ("pcie_generation_max", "int", "of card and slot"),
        ("pcie_generation_of_card", "int", "of the card"),
        ("pcie_width_max", "int", "lanes of card and slot"),
        ("nvlinks", "int", "active links; absent without NVLink"),
        ("nvlink_version", "string", "first link, for example `4_0`"),
        ("numa_node", "int", "nearest NUMA node"),
        ("near_cpus", "string", "CPUs of that node, for example `0-31,64-95`"),
        (
            "near_memory",
            "string",
            "NUMA nodes with the nearest memory, for example `0`",
        ),
        ("is_ecc_on", "bool", "ECC enabled"),
        (
            "is_mig_on",
            "bool",
            "MIG enabled",
        ),
        (
            "measured_with",
            "string",
            "available interfaces: `gpm` (hardware counters), `samples` (distributions), `counters` (times, bytes, energy), `nvml` (utilization)",
        ),
        (
            "asked_less",
            "string",
            "slow queries that run less than half as often as planned, with their interval; `not permitted`, `in part`",
        ),
        (
            "state",
            "string",
            "`present`, `lost: …` or `fails: …`; absent until the first failure",
        ),
        ("last_xid", "int", "last XID error"),
    )
)


def identity(library: Any, gpu: Any, devices: Path = _DEVICES) -> dict[str, Value]:
    """Return the facts about a GPU; unknown ones are omitted."""
    facts: dict[str, Value] = {}
    # A GPU that must be reset may still return its name.
    unanswered = (NotOffered, NotNow, GpuLost)
    for name, read in _readers(library, gpu, devices).items():
        with contextlib.suppress(*unanswered):
            value = ask(library, read)
            if value is not None:
                facts[name] = value
    with contextlib.suppress(*unanswered):
        margins = ask(library, FieldValues(library, gpu, _MARGINS.values()).read)
        facts |= {k: margins[name] for k, name in _MARGINS.items() if name in margins}
    return facts


def _readers(
    library: Any, gpu: Any, devices: Path
) -> dict[str, Callable[[], Value | None]]:
    return {
        "name": lambda: as_text(library.nvmlDeviceGetName(gpu)),
        "uuid": lambda: as_text(library.nvmlDeviceGetUUID(gpu)),
        "pci_bus": lambda: _bus(library, gpu),
        "architecture": lambda: _named(
            library, "NVML_DEVICE_ARCH_", library.nvmlDeviceGetArchitecture(gpu)
        ),
        "virtualization": lambda: _named(
            library,
            "NVML_GPU_VIRTUALIZATION_MODE_",
            library.nvmlDeviceGetVirtualizationMode(gpu),
        ),
        "compute_capability": lambda: "{}.{}".format(
            *library.nvmlDeviceGetCudaComputeCapability(gpu)
        ),
        "memory_total_bytes": lambda: int(memory_info(library, gpu).total),
        "power_limit_min_watts": lambda: _bounds(library, gpu)[0],
        "power_limit_max_watts": lambda: _bounds(library, gpu)[1],
        "power_limit_requested_watts": lambda: requested_limit(library, gpu),
        "nvlinks": lambda: links_up(library, gpu),
        "nvlink_version": lambda: _named(
            library, "NVML_NVLINK_VERSION_", library.nvmlDeviceGetNvLinkVersion(gpu, 0)
        ),
        "numa_node": lambda: _node(_bus(library, gpu), devices),
        "near_cpus": lambda: _listed(
            library.nvmlDeviceGetCpuAffinity(gpu, _AFFINITY_WORDS)
        ),
        "near_memory": lambda: _listed(
            library.nvmlDeviceGetMemoryAffinity(
                gpu, _NODE_WORDS, library.NVML_AFFINITY_SCOPE_NODE
            )
        ),
        "is_ecc_on": lambda: bool(library.nvmlDeviceGetEccMode(gpu)[0]),
        "is_mig_on": lambda: bool(library.nvmlDeviceGetMigMode(gpu)[0]),
        **_numbers(library, gpu),
    }


def _numbers(library: Any, gpu: Any) -> dict[str, Callable[[], Value]]:
    """Return the facts that need only one call with a function name or a constant."""

    def count(function: str) -> int:
        return int(getattr(library, function)(gpu))

    def watts(function: str) -> float:
        return float(getattr(library, function)(gpu) / _MILLIWATTS)

    def threshold(kind: str) -> float:
        constant = getattr(library, f"NVML_TEMPERATURE_THRESHOLD_{kind}")
        return float(library.nvmlDeviceGetTemperatureThreshold(gpu, constant))

    def clock(kind: str) -> float:
        return float(library.nvmlDeviceGetMaxClockInfo(gpu, getattr(library, kind)))

    readers: dict[str, Callable[[], Value]] = {}
    for read, names in (
        (count, _COUNTS),
        (watts, _WATTS),
        (threshold, _THRESHOLDS),
        (clock, _CLOCKS),
    ):
        readers |= {name: partial(read, argument) for name, argument in names.items()}
    return readers


def _bus(library: Any, gpu: Any) -> str:
    return as_text(library.nvmlDeviceGetPciInfo(gpu).busId).rstrip("\0").lower()


def _node(bus: str, devices: Path) -> int | None:
    # The driver writes the PCI domain with eight digits, the kernel with four.
    domain, _, rest = bus.partition(":")
    try:
        node = int((devices / f"{domain[-4:]}:{rest}" / "numa_node").read_text("ascii"))
    except (OSError, ValueError):
        return None
    return node if node >= 0 else None


def _bounds(library: Any, gpu: Any) -> tuple[float, float]:
    low, high = library.nvmlDeviceGetPowerManagementLimitConstraints(gpu)
    return low / _MILLIWATTS, high / _MILLIWATTS


def _named(library: Any, prefix: str, number: int) -> str | None:
    """Return the binding's name of a constant; None if it is newer than the binding."""
    names = [n for n in dir(library) if n.startswith(prefix)]
    found = (n for n in names if getattr(library, n) == number)
    name = next(found, f"{prefix}UNKNOWN").removeprefix(prefix).lower()
    return None if name in ("unknown", "invalid") else name


def _listed(words: Iterable[int]) -> str | None:
    """Return the indices of the set bits; None if there are none."""
    numbers = [
        word * _WORD_BITS + bit
        for word, bits in enumerate(words)
        for bit in range(_WORD_BITS)
        if bits >> bit & 1
    ]
    return cpu_list(numbers) or None


def system_facts(library: Any) -> dict[str, Value]:
    """Return facts common to all GPUs of the machine."""
    facts: dict[str, Value] = {}
    with contextlib.suppress(NotOffered, NotNow):
        version = ask(library, library.nvmlSystemGetDriverVersion)
        facts["facts/gpu_driver"] = as_text(version)
    with contextlib.suppress(NotOffered, NotNow):
        number = ask(library, library.nvmlSystemGetCudaDriverVersion)
        # 12040 is 12.4.
        facts["facts/gpu_driver_cuda"] = f"{number // 1000}.{number % 1000 // 10}"
    return facts
