"""Fields of `nvidia-smi --query-gpu` and their paths (pure).

Names are those in `nvidia-smi --help-query-gpu`, including old ones; columns of
amd-smi, rocm-smi and dcgm-exporter are mapped to them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from seamark.importers.reading import to_number

MIB = 1024.0 * 1024.0
# Units in cells and heads, with the factor to our unit.
UNITS = {
    "": 1.0,
    "%": 1.0,
    "ratio": 100.0,
    "w": 1.0,
    "mw": 0.001,
    "mhz": 1.0,
    "c": 1.0,
    "b": 1.0,
    "kib": 1024.0,
    "mib": MIB,
    "mb": MIB,  # nvidia-smi's are powers of two
    "gib": 1024.0 * MIB,
    "s": 1.0,
    "ms": 0.001,
    "us": 0.000001,
}
_UNIT_WORDS = {"percent": "%", "pct": "%", "watts": "w", "celsius": "c", "gb": "gib"}
_BRACKETS = re.compile(r"[\[\])]+")
_BREAK = re.compile(r"[\s._/-]+")
# Texts in place of missing values.
ABSENT = ("n/a", "not supported", "unknown error", "requested functionality has been")
_ABSENT_CELLS = frozenset({"", "-", "--", "err!", "enabled?"})


@dataclass(frozen=True, slots=True)
class Field:
    """The meaning of a column: a series under `gpu/<i>/`, or a fact."""

    path: str
    # Unit of a cell without one, in a log whose header has none.
    unit: str = ""
    is_fact: bool = False
    to_value: Callable[[str], object] | None = None


def _performance_state(text: str) -> float | None:
    return to_number(text[1:]) if text[:1] in "Pp" else None


def _activity(text: str) -> float | None:
    return {"active": 1.0, "not active": 0.0}.get(text.casefold())


def _is_enabled(text: str) -> bool | None:
    return {"enabled": True, "disabled": False}.get(text.casefold())


def _text(text: str) -> str:
    return text[:200]


def _series(path: str, unit: str = "") -> Field:
    return Field(path, unit)


def _number_fact(path: str, unit: str = "") -> Field:
    return Field(path, unit, is_fact=True)


def _text_fact(path: str) -> Field:
    return Field(path, is_fact=True, to_value=_text)


def _flag_fact(path: str) -> Field:
    return Field(path, is_fact=True, to_value=_is_enabled)


def _state(path: str) -> Field:
    return Field(f"limited/{path}_share", to_value=_activity)


INDEX, TIME = "index", "timestamp"
# Columns that identify GPUs without an index, best first.
IDENTITIES = ("uuid", "pci.bus_id", "serial")

FIELDS: dict[str, Field] = {
    "utilization.gpu": _series("utilization_percent", "%"),
    "utilization.memory": _series("memory_utilization_percent", "%"),
    "utilization.encoder": _series("encoder_percent", "%"),
    "utilization.decoder": _series("decoder_percent", "%"),
    "utilization.jpeg": _series("jpeg_percent", "%"),
    "utilization.ofa": _series("optical_flow_percent", "%"),
    "memory.used": _series("memory_used_bytes", "mib"),
    "memory.reserved": _series("memory_reserved_bytes", "mib"),
    "memory.total": _number_fact("memory_total_bytes", "mib"),
    "temperature.gpu": _series("temperature_celsius", "c"),
    "temperature.memory": _series("memory_temperature_celsius", "c"),
    "temperature.gpu.tlimit": _series("temperature_margin_celsius", "c"),
    "power.draw": _series("power_watts", "w"),
    "power.draw.average": _series("power_watts", "w"),
    "power.draw.instant": _series("power_watts", "w"),
    "power.limit": _series("power_limit_watts", "w"),
    "enforced.power.limit": _series("power_limit_watts", "w"),
    "power.default_limit": _number_fact("power_limit_default_watts", "w"),
    "power.max_limit": _number_fact("power_limit_max_watts", "w"),
    "clocks.sm": _series("sm_clock_mhz", "mhz"),
    "clocks.mem": _series("memory_clock_mhz", "mhz"),
    "clocks.max.sm": _number_fact("sm_clock_max_mhz", "mhz"),
    "clocks.max.mem": _number_fact("memory_clock_max_mhz", "mhz"),
    # DCGM's ratios are from 0 to 1.
    "sm.active": _series("gpm/sm_active_percent", "ratio"),
    "tensor.active": _series("gpm/tensor_active_percent", "ratio"),
    "dram.active": _series("gpm/dram_active_percent", "ratio"),
    "pstate": Field("performance_state", to_value=_performance_state),
    "fan.speed": _series("fan_percent", "%"),
    "pcie.link.gen.current": _series("pcie_generation"),
    "pcie.link.width.current": _series("pcie_width"),
    "pcie.link.gen.max": _number_fact("pcie_generation_max"),
    "pcie.link.width.max": _number_fact("pcie_width_max"),
    "ecc.errors.corrected.volatile.total": _series("ecc_corrected"),
    "ecc.errors.uncorrected.volatile.total": _series("ecc_uncorrected"),
    "name": _text_fact("name"),
    "uuid": _text_fact("uuid"),
    "pci.bus_id": _text_fact("pci_bus"),
    "compute_cap": _text_fact("compute_capability"),
    "mig.mode.current": _flag_fact("is_mig_on"),
    "ecc.mode.current": _flag_fact("is_ecc_on"),
    "clocks_event_reasons.sw_power_cap": _state("power"),
    "clocks_event_reasons.hw_slowdown": _state("hardware_slowdown"),
    "clocks_event_reasons.hw_thermal_slowdown": _state("thermal_hardware"),
    "clocks_event_reasons.sw_thermal_slowdown": _state("thermal_software"),
    "clocks_event_reasons.hw_power_brake_slowdown": _state("power_brake"),
    "clocks_event_reasons.sync_boost": _state("sync_boost"),
    "clocks_event_reasons.applications_clocks_setting": _state("application_clocks"),
    "clocks_event_reasons.gpu_idle": Field("idle_share", to_value=_activity),
}
# Known columns that add no information.
KNOWN = frozenset({INDEX, TIME, "count", "serial", "memory.free", "driver_version"})
# Other names of columns, used by scripts around nvidia-smi and other tools.
_SAME = {
    "time": "timestamp",
    "datetime": "timestamp",
    "date.time": "timestamp",
    "ts": "timestamp",
    "unix.time": "timestamp",
    "gpu": "index",
    "gpu.id": "index",
    "gpu.index": "index",
    "device": "index",
    "device.id": "index",
    "gpu.utilization": "utilization.gpu",
    "gpu.util": "utilization.gpu",
    "gpu.usage": "utilization.gpu",
    "gpu.load": "utilization.gpu",
    "utilization": "utilization.gpu",
    "util": "utilization.gpu",
    "memory.utilization": "utilization.memory",
    "mem.util": "utilization.memory",
    "used.memory": "memory.used",
    "mem.used": "memory.used",
    "gpu.memory.used": "memory.used",
    "gpu.mem.used": "memory.used",
    "vram.used": "memory.used",
    "total.memory": "memory.total",
    "mem.total": "memory.total",
    "gpu.memory.total": "memory.total",
    "gpu.mem.total": "memory.total",
    "vram.total": "memory.total",
    "mem.free": "memory.free",
    "gpu.memory.free": "memory.free",
    "temperature": "temperature.gpu",
    "temp": "temperature.gpu",
    "gpu.temp": "temperature.gpu",
    "gpu.temperature": "temperature.gpu",
    "power": "power.draw",
    "power.usage": "power.draw",
    "gpu.power": "power.draw",
    "gpu.power.draw": "power.draw",
    "power.cap": "power.limit",
    "fan": "fan.speed",
    "gpu.clock": "clocks.sm",
    "sm.clock": "clocks.sm",
    "mem.clock": "clocks.mem",
    # amd-smi and rocm-smi.
    "gfx": "utilization.gpu",
    "gfx.activity": "utilization.gpu",
    "gpu.use": "utilization.gpu",
    "umc.activity": "utilization.memory",
    "gpu.memory.use": "utilization.memory",
    "used.vram": "memory.used",
    "total.vram": "memory.total",
    "free.vram": "memory.free",
    "vram.free": "memory.free",
    "vram.total.used.memory": "memory.used",
    "vram.total.memory": "memory.total",
    "socket.power": "power.draw",
    "average.graphics.package.power": "power.draw",
    "current.socket.graphics.package.power": "power.draw",
    "hotspot.temperature": "temperature.gpu",
    "temperature.sensor.edge": "temperature.gpu",
    "temperature.sensor.memory": "temperature.memory",
    "memory.temperature": "temperature.memory",
    "gfx.clk": "clocks.sm",
    "gfx.clock": "clocks.sm",
    # Exports of dcgm-exporter's metrics.
    "dcgm.fi.dev.gpu.util": "utilization.gpu",
    "dcgm.fi.dev.mem.copy.util": "utilization.memory",
    "dcgm.fi.dev.fb.used": "memory.used",
    "dcgm.fi.dev.fb.free": "memory.free",
    "dcgm.fi.dev.power.usage": "power.draw",
    "dcgm.fi.dev.gpu.temp": "temperature.gpu",
    "dcgm.fi.dev.memory.temp": "temperature.memory",
    "dcgm.fi.dev.sm.clock": "clocks.sm",
    "dcgm.fi.dev.mem.clock": "clocks.mem",
    "dcgm.fi.prof.sm.active": "sm.active",
    "dcgm.fi.prof.pipe.tensor.active": "tensor.active",
    "dcgm.fi.prof.dram.active": "dram.active",
    "gpu_name": "name",
    "gpu_uuid": "uuid",
    "gpu_bus_id": "pci.bus_id",
    "gpu_serial": "serial",
    "clocks.current.sm": "clocks.sm",
    "clocks.current.memory": "clocks.mem",
    "clocks.current.mem": "clocks.mem",
    "clocks.max.memory": "clocks.max.mem",
    "pcie.link.gen.gpucurrent": "pcie.link.gen.current",
    "pcie.link.gen.gpumax": "pcie.link.gen.max",
}


def field_name(head: str) -> tuple[str, str]:
    """Return the known field name of a head, and the unit in its brackets."""
    text = head.strip().strip('"').replace("(", "[")
    # Only the last brackets hold a unit: "Temperature (Sensor edge) (C)".
    name, _, unit = text.rpartition("[") if "[" in text else (text, "", "")
    name = (
        _BRACKETS.sub(" ", name)
        .strip()
        .casefold()
        .replace("throttle_reasons", "event_reasons")
    )
    unit = unit.rstrip(")] ").strip().casefold().removeprefix("\N{DEGREE SIGN}")
    name = _SAME.get(name, name)
    if name in FIELDS or name in KNOWN:
        return name, unit
    words = _BREAK.split(name)
    if len(words) > 1 and (words[-1] in UNITS or words[-1] in _UNIT_WORDS):
        unit = unit or _UNIT_WORDS.get(words[-1], words[-1])
        words = words[:-1]
    plain = ".".join(words)
    plain = _SAME.get(plain, plain)
    return (plain if plain in FIELDS or plain in KNOWN else name), unit


def is_absent(cell: str) -> bool:
    """Return whether a cell marks a missing value."""
    text = cell.strip("[] ").casefold()
    return text in _ABSENT_CELLS or text.startswith(ABSENT)


def cell_value(cell: str, field: Field, unit: str) -> object:
    """Return a cell's value in the unit of its path; None if it cannot be parsed."""
    if field.to_value is not None:
        return field.to_value(cell)
    number, _, cell_unit = cell.partition(" ")
    if not cell_unit and cell.endswith("%"):
        number, cell_unit = cell[:-1], "%"
    scale = UNITS.get((cell_unit.strip() or unit or field.unit).casefold())
    value = to_number(number)
    return None if scale is None or value is None else value * scale
