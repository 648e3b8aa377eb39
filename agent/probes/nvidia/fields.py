"""Counters of NVIDIA's driver, several in one call, and what their growth says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agent.probes.nvidia.driver import code_of
from agent.probes.rates import Growth, Rates, known, share

_NANOSECOND, _KIBIBYTE, _JOULES_OF_MILLIJOULE = 1e-9, 1024.0, 1e-3
# Of fields by link: the sum over all links.
_ALL_LINKS = 0xFFFFFFFF
_NAN = float("nan")
_NOT_SUPPORTED = 3

# Paths below gpu/<i>/ and the names of the library's constants.
TIMES_LIMITED = {
    "limited/power_share": "PERF_POLICY_POWER",
    "limited/thermal_share": "PERF_POLICY_THERMAL",
    "limited/sync_boost_share": "PERF_POLICY_SYNC_BOOST",
    "limited/board_share": "PERF_POLICY_BOARD_LIMIT",
    "limited/low_utilization_share": "PERF_POLICY_LOW_UTILIZATION",
    "limited/reliability_share": "PERF_POLICY_RELIABILITY",
    "limited/thermal_software_share": "CLOCKS_EVENT_REASON_SW_THERM_SLOWDOWN",
    "limited/thermal_hardware_share": "CLOCKS_EVENT_REASON_HW_THERM_SLOWDOWN",
    "limited/power_brake_share": "CLOCKS_EVENT_REASON_HW_POWER_BRAKE_SLOWDOWN",
}
BYTES = {
    "pcie_send_bytes_per_second": ("PCIE_COUNT_TX_BYTES", 1.0),
    "pcie_receive_bytes_per_second": ("PCIE_COUNT_RX_BYTES", 1.0),
    "nvlink_send_bytes_per_second": ("NVLINK_THROUGHPUT_DATA_TX", _KIBIBYTE),
    "nvlink_receive_bytes_per_second": ("NVLINK_THROUGHPUT_DATA_RX", _KIBIBYTE),
}
NOW = {"memory_temperature_celsius": ("MEMORY_TEMP", 1.0)}
ENERGY = "TOTAL_ENERGY_CONSUMPTION"
# Sums of counters that should never move, since the agent began.
ERRORS = {
    "pcie_replays": ("PCIE_REPLAY_COUNTER",),
    "pcie_errors": (
        "PCIE_COUNT_CORRECTABLE_ERRORS",
        "PCIE_COUNT_NON_FATAL_ERROR",
        "PCIE_COUNT_FATAL_ERROR",
    ),
    "nvlink_errors": (
        "NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL",
        "NVLINK_CRC_DATA_ERROR_COUNT_TOTAL",
        "NVLINK_REPLAY_ERROR_COUNT_TOTAL",
        "NVLINK_RECOVERY_ERROR_COUNT_TOTAL",
    ),
}
# What the card itself remembers, as it stands.
STANDING = {
    "ecc_corrected": ("ECC_SBE_VOL_TOTAL",),
    "ecc_uncorrected": ("ECC_DBE_VOL_TOTAL",),
    "remapped_rows": ("REMAPPED_COR", "REMAPPED_UNC"),
    "remapped_rows_pending": ("REMAPPED_PENDING",),
    "remapped_rows_failed": ("REMAPPED_FAILURE",),
    "retired_pages": ("RETIRED_SBE", "RETIRED_DBE"),
    "retired_pages_pending": ("RETIRED_PENDING",),
}
_BY_LINK = ("NVLINK_THROUGHPUT_DATA_TX", "NVLINK_THROUGHPUT_DATA_RX")

Values = dict[str, float]


class FieldValues:
    """Some fields of one GPU; those that it does not have are asked for once."""

    def __init__(self, library: Any, gpu: Any, names: Sequence[str]) -> None:
        self._library = library
        self._gpu = gpu
        self._ids: dict[str, int | tuple[int, int]] = {}
        for name in names:
            number = getattr(library, f"NVML_FI_DEV_{name}", None)
            if number is not None:
                is_by_link = name in _BY_LINK
                self._ids[name] = (number, _ALL_LINKS) if is_by_link else number

    def read(self) -> Values:
        if not self._ids:
            return {}
        names = list(self._ids)
        found = self._library.nvmlDeviceGetFieldValues(
            self._gpu, [self._ids[name] for name in names]
        )
        values: Values = {}
        for name, field in zip(names, found, strict=True):
            if field.nvmlReturn == 0:
                values[name] = number_of(self._library, field)
            elif field.nvmlReturn == _NOT_SUPPORTED:
                del self._ids[name]
        return {name: value for name, value in values.items() if value == value}  # noqa: PLR0124 - not NaN


def number_of(library: Any, field: Any) -> float:
    """Return the member of the union that the field's type names."""
    members = {
        library.NVML_VALUE_TYPE_DOUBLE: "dVal",
        library.NVML_VALUE_TYPE_UNSIGNED_INT: "uiVal",
        library.NVML_VALUE_TYPE_UNSIGNED_LONG: "ulVal",
        library.NVML_VALUE_TYPE_UNSIGNED_LONG_LONG: "ullVal",
        library.NVML_VALUE_TYPE_SIGNED_LONG_LONG: "sllVal",
        getattr(library, "NVML_VALUE_TYPE_SIGNED_INT", 5): "siVal",
        getattr(library, "NVML_VALUE_TYPE_UNSIGNED_SHORT", 6): "usVal",
    }
    member = members.get(field.valueType)
    return _NAN if member is None else float(getattr(field.value, member))


class Counters:
    """What is counted all the time: limits, bytes, energy."""

    def __init__(self, library: Any, gpu: Any) -> None:
        names = [*TIMES_LIMITED.values(), ENERGY]
        names += [name for name, _ in (*BYTES.values(), *NOW.values())]
        self._fields = FieldValues(library, gpu, names)
        self._library, self._gpu = library, gpu
        self._rates = Rates()
        self._energy = Growth()
        # What nothing else need supply.
        self.paths: set[str] = set()

    def __call__(self, now: float) -> Values:
        values = self._fields.read()
        if ENERGY not in values:
            values.update(self._energy_by_call())
        named = {**TIMES_LIMITED, **{path: name for path, (name, _) in BYTES.items()}}
        self.paths |= {path for path, name in named.items() if name in values}
        return self._readings(values, now)

    def _readings(self, values: Mapping[str, float], now: float) -> Values:
        seconds = {
            path: _times(values.get(name), _NANOSECOND)
            for path, name in TIMES_LIMITED.items()
        }
        counts = {
            path: _times(values.get(name), factor)
            for path, (name, factor) in BYTES.items()
        }
        joules = _times(values.get(ENERGY), _JOULES_OF_MILLIJOULE)
        rates = self._rates.of({**seconds, **counts, "watts": joules}, now)
        return known(
            {
                **{path: share(rates[path]) for path in seconds},
                **{path: rates[path] for path in counts},
                **{path: values.get(name) for path, (name, _) in NOW.items()},
                "power_mean_watts": rates["watts"],
                "energy_joules": self._energy.of(joules),
            }
        )

    def _energy_by_call(self) -> Values:
        try:
            energy = self._library.nvmlDeviceGetTotalEnergyConsumption(self._gpu)
        except (AttributeError, self._library.NVMLError):
            return {}
        return {ENERGY: float(energy)}


class Health:
    """What should stay as it is: errors and what the card had to put aside."""

    def __init__(self, library: Any, gpu: Any) -> None:
        groups = (*ERRORS.values(), *STANDING.values())
        names = [name for group in groups for name in group]
        self._fields = FieldValues(library, gpu, names)
        self._library, self._gpu = library, gpu
        self._growths = {path: Growth() for path in ERRORS}

    def __call__(self, now: float) -> Values:
        del now  # counts, not rates
        values = self._fields.read()
        if "PCIE_REPLAY_COUNTER" not in values:
            values.update(self._replays_by_call())
        errors = {
            path: self._growths[path].of(_sum(values, names))
            for path, names in ERRORS.items()
        }
        standing = {path: _sum(values, names) for path, names in STANDING.items()}
        return known({**errors, **standing})

    def _replays_by_call(self) -> Values:
        try:
            count = self._library.nvmlDeviceGetPcieReplayCounter(self._gpu)
        except (AttributeError, self._library.NVMLError) as error:
            if code_of(error) in (None, _NOT_SUPPORTED):
                return {}
            raise
        return {"PCIE_REPLAY_COUNTER": float(count)}


def _sum(values: Mapping[str, float], names: Sequence[str]) -> float | None:
    there = [values[name] for name in names if name in values]
    return sum(there) if there else None


def _times(count: float | None, factor: float) -> float | None:
    return None if count is None else count * factor
