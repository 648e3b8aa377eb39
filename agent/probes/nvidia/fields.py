"""Counters of NVIDIA's driver, several per call, and metrics derived from them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from seamark.probes.nvidia.driver import (
    INVALID_ARGUMENT,
    NO_PERMISSION,
    NOT_SUPPORTED,
    code_of,
)
from seamark.probes.nvidia.paced import MAX_MISSES
from seamark.probes.rates import Growth, Growths, Rates, known, share

_NANOSECOND, _KIBIBYTE, _JOULES_OF_MILLIJOULE = 1e-9, 1024.0, 1e-3
_WATTS_OF_MILLIWATT = 1e-3
# For fields with a value per link: the sum over all links.
_ALL_LINKS = 0xFFFFFFFF
_REFUSED = (INVALID_ARGUMENT, NOT_SUPPORTED, NO_PERMISSION)

# Paths under gpu/<i>/ and the names of the library's constants.
TIMES_LIMITED = {
    "limited/power_share": "PERF_POLICY_POWER",
    "limited/thermal_share": "PERF_POLICY_THERMAL",
    "limited/sync_boost_share": "PERF_POLICY_SYNC_BOOST",
    "limited/board_share": "PERF_POLICY_BOARD_LIMIT",
    "limited/low_utilization_share": "PERF_POLICY_LOW_UTILIZATION",
    "limited/reliability_share": "PERF_POLICY_RELIABILITY",
    "limited/base_clocks_share": "PERF_POLICY_TOTAL_BASE_CLOCKS",
    "limited/any_reason_share": "PERF_POLICY_TOTAL_APP_CLOCKS",
    "limited/thermal_software_share": "CLOCKS_EVENT_REASON_SW_THERM_SLOWDOWN",
    "limited/thermal_hardware_share": "CLOCKS_EVENT_REASON_HW_THERM_SLOWDOWN",
    "limited/power_brake_share": "CLOCKS_EVENT_REASON_HW_POWER_BRAKE_SLOWDOWN",
}
BYTES = {
    "pcie_send_bytes_per_second": ("PCIE_COUNT_TX_BYTES", 1.0),
    "pcie_receive_bytes_per_second": ("PCIE_COUNT_RX_BYTES", 1.0),
    "nvlink_send_bytes_per_second": ("NVLINK_THROUGHPUT_DATA_TX", _KIBIBYTE),
    "nvlink_receive_bytes_per_second": ("NVLINK_THROUGHPUT_DATA_RX", _KIBIBYTE),
    "nvlink_raw_send_bytes_per_second": ("NVLINK_THROUGHPUT_RAW_TX", _KIBIBYTE),
    "nvlink_raw_receive_bytes_per_second": ("NVLINK_THROUGHPUT_RAW_RX", _KIBIBYTE),
}
# The fifth generation of NVLink counts each link separately.
BYTES_OF_LINKS = {
    "nvlink_send_bytes_per_second": "NVLINK_COUNT_XMIT_BYTES",
    "nvlink_receive_bytes_per_second": "NVLINK_COUNT_RCV_BYTES",
}
NOW = {
    "memory_temperature_celsius": ("MEMORY_TEMP", 1.0),
    "power_average_watts": ("POWER_AVERAGE", _WATTS_OF_MILLIWATT),
    "power_instant_watts": ("POWER_INSTANT", _WATTS_OF_MILLIWATT),
}
ENERGY, MEAN_POWER = "TOTAL_ENERGY_CONSUMPTION", "power_mean_watts"
# Sums of error counters since the agent began.
ERRORS = {
    "pcie_replays": ("PCIE_REPLAY_COUNTER",),
    "pcie_errors": (
        "PCIE_COUNT_CORRECTABLE_ERRORS",
        "PCIE_COUNT_NON_FATAL_ERROR",
        "PCIE_COUNT_FATAL_ERROR",
    ),
    "pcie_recoveries": ("PCIE_L0_TO_RECOVERY_COUNTER",),
    "pcie_naks": ("PCIE_COUNT_NAKS_RECEIVED", "PCIE_COUNT_NAKS_SENT"),
    "pcie_bad_tlps": ("PCIE_COUNT_BAD_TLP",),
    "pcie_bad_dllps": ("PCIE_COUNT_BAD_DLLP",),
    "pcie_receiver_errors": ("PCIE_COUNT_RECEIVER_ERROR",),
    "pcie_lane_errors": ("PCIE_COUNT_LANE_ERROR",),
    "nvlink_discarded_packets": (
        "NVLINK_COUNT_BUFFER_OVERRUN_ERRORS",
        "NVLINK_COUNT_XMIT_DISCARDS",
    ),
    "nvlink_integrity_errors": ("NVLINK_COUNT_LOCAL_LINK_INTEGRITY_ERRORS",),
    "nvlink_failed_recoveries": ("NVLINK_COUNT_LINK_RECOVERY_FAILED_EVENTS",),
}
# The same errors, as counted by different generations of NVLink. A card may support
# several: Hopper always returns 0 for the first.
NVLINK_ERRORS = (
    (
        "NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL",
        "NVLINK_CRC_DATA_ERROR_COUNT_TOTAL",
        "NVLINK_REPLAY_ERROR_COUNT_TOTAL",
        "NVLINK_RECOVERY_ERROR_COUNT_TOTAL",
    ),
    (
        "NVLINK_ERROR_DL_CRC",
        "NVLINK_ERROR_DL_REPLAY",
        "NVLINK_ERROR_DL_RECOVERY",
    ),
    ("NVLINK_COUNT_RCV_ERRORS", "NVLINK_COUNT_LINK_RECOVERY_EVENTS"),
)
# Values stored by the card itself, reported as they are.
STANDING = {
    "ecc_corrected": ("ECC_SBE_VOL_TOTAL",),
    "ecc_uncorrected": ("ECC_DBE_VOL_TOTAL",),
    "ecc_corrected_ever": ("ECC_SBE_AGG_TOTAL",),
    "ecc_uncorrected_ever": ("ECC_DBE_AGG_TOTAL",),
    "remapped_rows": ("REMAPPED_COR", "REMAPPED_UNC"),
    "remapped_rows_pending": ("REMAPPED_PENDING",),
    "remapped_rows_failed": ("REMAPPED_FAILURE",),
    "retired_pages": ("RETIRED_SBE", "RETIRED_DBE"),
    "retired_pages_pending": ("RETIRED_PENDING",),
}
_SUMMED_BY_DRIVER = "NVLINK_THROUGHPUT_"
_BY_LINK = ("NVLINK_COUNT_", "NVLINK_ERROR_DL_")
_BY_LANE, _MAX_LANES = "PCIE_COUNT_LANE_ERROR", 16

Values = dict[str, float]


class FieldValues:
    """Reads some fields of one GPU; unsupported ones are requested only once.

    A field with a value per link or lane is summed. `wide` fields are ignored on cards
    that count them in 32 bits or less.
    """

    def __init__(
        self,
        library: Any,
        gpu: Any,
        names: Iterable[str],
        wide: Collection[str] = (),
    ) -> None:
        self._library = library
        self._gpu = gpu
        self._wide = wide
        self._requested = [
            (name, number, scope)
            for name in names
            if (number := getattr(library, f"NVML_FI_DEV_{name}", None)) is not None
            for scope in _scopes(library, name)
        ]
        self._answered: set[tuple[str, int]] = set()
        # Whether this user may read all of them.
        self.is_permitted = True

    def read(self) -> Values:
        if not self._requested:
            return {}
        found = self._library.nvmlDeviceGetFieldValues(
            self._gpu, [(number, scope) for _, number, scope in self._requested]
        )
        values: Values = {}
        missing: set[str] = set()
        refused = set()
        for (name, _, scope), field in zip(self._requested, found, strict=True):
            place = (name, scope)
            value = number_of(self._library, field) if field.nvmlReturn == 0 else None
            if value is not None and name in self._wide and self._is_narrow(field):
                refused.add(place)
            elif value is not None and value == value:  # noqa: PLR0124 - not NaN
                self._answered.add(place)
                values[name] = values.get(name, 0.0) + value
            elif field.nvmlReturn in _REFUSED and place not in self._answered:
                refused.add(place)
                self.is_permitted &= field.nvmlReturn != NO_PERMISSION
            else:
                # An incomplete sum would look like a reset.
                missing.add(name)
        if refused:
            self._requested = [
                row for row in self._requested if (row[0], row[2]) not in refused
            ]
        return {name: value for name, value in values.items() if name not in missing}

    def _is_narrow(self, field: Any) -> bool:
        return field.valueType in (
            self._library.NVML_VALUE_TYPE_UNSIGNED_INT,
            getattr(self._library, "NVML_VALUE_TYPE_SIGNED_INT", 5),
            getattr(self._library, "NVML_VALUE_TYPE_UNSIGNED_SHORT", 6),
        )


def _scopes(library: Any, name: str) -> Sequence[int]:
    """Return the links or lanes of a field; for other fields the card itself."""
    if name == _BY_LANE:
        return range(_MAX_LANES)
    if name.startswith(_BY_LINK):
        return range(getattr(library, "NVML_NVLINK_MAX_LINKS", 18))
    return (_ALL_LINKS,) if name.startswith(_SUMMED_BY_DRIVER) else (0,)


def number_of(library: Any, field: Any) -> float | None:
    """Return the union member selected by the field's type."""
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
    return None if member is None else float(getattr(field.value, member))


class Energy:
    """The card's energy, and the mean power between two samples.

    Separate from other counters: the query takes several times as long as all of them,
    and a longer interval loses nothing.
    """

    def __init__(self, library: Any, gpu: Any, growths: Growths | None = None) -> None:
        """`growths` are the kept counters of this GPU since the agent began, if any."""
        self._field = FieldValues(library, gpu, [ENERGY])
        self._library, self._gpu = library, gpu
        self._rates = Rates()
        self._growths = Growths(Growth) if growths is None else growths
        self._has_answered = False

    def __call__(self, now: float) -> Values:
        millijoules = self._field.read().get(ENERGY)
        if millijoules is None and self._has_answered:
            # The query failed this time.
            return {}
        self._has_answered = millijoules is not None
        if millijoules is None:
            # An unsupported query is not repeated.
            millijoules = self._library.nvmlDeviceGetTotalEnergyConsumption(self._gpu)
        joules = float(millijoules) * _JOULES_OF_MILLIJOULE
        return known(
            {
                MEAN_POWER: self._rates.of({"watts": joules}, now)["watts"],
                "energy_joules": self._growths[ENERGY].of(joules),
            }
        )


class Counters:
    """Continuous counters: time with lower clocks, and bytes."""

    def __init__(self, library: Any, gpu: Any) -> None:
        counted = [*BYTES_OF_LINKS.values(), *(name for name, _ in BYTES.values())]
        names = [*TIMES_LIMITED.values(), *counted]
        names += [name for name, _ in NOW.values()]
        # 32-bit byte counters overflow between two samples, an unknown number of times.
        self.fields = FieldValues(library, gpu, names, wide=counted)
        self._rates = Rates()
        # Paths that need no other source, and the consecutive misses of each.
        self.paths: set[str] = set()
        self._misses: dict[str, int] = {}

    def __call__(self, now: float) -> Values:
        values = self.fields.read()
        named = {**TIMES_LIMITED, **{path: name for path, (name, _) in BYTES.items()}}
        self._misses = {path: times + 1 for path, times in self._misses.items()}
        for some in (named, BYTES_OF_LINKS):
            self._misses |= {path: 0 for path, name in some.items() if name in values}
        self.paths = {path for path, n in self._misses.items() if n < MAX_MISSES}
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
        for path, name in BYTES_OF_LINKS.items():
            if counts[path] is None:
                counts[path] = values.get(name)
        rates = self._rates.of({**seconds, **counts}, now)
        return known(
            {
                **{path: share(rates[path]) for path in seconds},
                **{path: rates[path] for path in counts},
                **{
                    path: _times(values.get(name), factor)
                    for path, (name, factor) in NOW.items()
                },
            }
        )


class Health:
    """Health counters: errors, and retired or remapped memory."""

    def __init__(self, library: Any, gpu: Any, growths: Growths | None = None) -> None:
        """`growths` are the kept counters of this GPU since the agent began, if any."""
        errors = [name for some in (*ERRORS.values(), *NVLINK_ERRORS) for name in some]
        stand = [name for some in STANDING.values() for name in some]
        self.fields = FieldValues(library, gpu, (*errors, *stand))
        self._library, self._gpu = library, gpu
        self._errors = errors
        self._growths = Growths(Growth) if growths is None else growths

    def __call__(self, now: float) -> Values:
        del now  # counts, not rates
        values = self.fields.read()
        if "PCIE_REPLAY_COUNTER" not in values:
            values.update(self._replays_by_call())
        # Separately, because a single failed query must not look like a reset.
        for name in self._errors:
            self._growths[name].of(values.get(name))
        grown = known({name: self._growths[name].last_result for name in self._errors})
        errors = {path: _sum(grown, names) for path, names in ERRORS.items()}
        of_links = [_sum(grown, names) for names in NVLINK_ERRORS]
        totals = [total for total in of_links if total is not None]
        errors["nvlink_errors"] = max(totals, default=None)
        standing = {path: _sum(values, names) for path, names in STANDING.items()}
        return known({**errors, **standing})

    def _replays_by_call(self) -> Values:
        try:
            count = self._library.nvmlDeviceGetPcieReplayCounter(self._gpu)
        except (AttributeError, self._library.NVMLError) as error:
            if code_of(error) in (None, NOT_SUPPORTED):
                return {}
            raise
        return {"PCIE_REPLAY_COUNTER": float(count)}


def _sum(values: Mapping[str, float], names: Sequence[str]) -> float | None:
    there = [values[name] for name in names if name in values]
    return sum(there) if there else None


def _times(count: float | None, factor: float) -> float | None:
    return None if count is None else count * factor
