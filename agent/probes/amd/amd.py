"""AMD GPUs, through AMD's management library, if it is installed.

Written from the documentation of `amdsmi` 7.0 and tested with a test double; not yet
tested on a real card.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar

from seamark.lifecycle.background import importing
from seamark.lifecycle.driver_calls import DriverLibrary
from seamark.probes.amd.amd_catalogue import FACTS, READINGS
from seamark.probes.amd.amd_counters import Link, Shares, limits_between, number
from seamark.probes.gpu_states import PRESENT, States
from seamark.probes.nvidia.users import Pids, Use, job_root, use_readings
from seamark.probes.nvidia.visible import own_gpus
from seamark.probes.probe import (
    ANY_JOB,
    Facts,
    Job,
    Kept,
    Probe,
    ProbeUnavailable,
    Sample,
)
from seamark.probes.rates import Growths, Rates, known
from seamark.probes.reading import Fact, Reading
from seamark.recording.values import Value

_MEBIBYTE = 2**20
_JOULES_OF_MICROJOULE, _WATTS_OF_MICROWATT = 1e-6, 1e-6
_ALLOWANCE_OF_GPU = 0.005
_SELDOM_SECONDS = 5.0
# Error codes that the library will return again.
_REFUSED = (1, 2, 3, 10)  # invalid, not supported, not implemented, no permission
_VISIBLE = ("ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES")
_NVIDIA = Path("/dev/nvidiactl")

Read = Callable[[float], dict[str, float | None]]


class AmdProbe(Probe):
    """Measures every AMD GPU that this process may use."""

    name = "amd"
    may_hang = True
    readings: ClassVar[tuple[Reading, ...]] = READINGS
    states: ClassVar[tuple[Fact, ...]] = FACTS

    # Any: the library is loaded only if it is installed, and has no types.
    def __init__(
        self,
        library: Any = None,
        environment: Mapping[str, str] = os.environ,
        job: Job = ANY_JOB,
    ) -> None:
        self._library = library or load_library()
        try:
            # Never shut down: the library has no reference count, and a shutdown would
            # also affect the event probe, other runs and PyTorch.
            self._library.amdsmi_init()
            handles = self._library.amdsmi_get_processor_handles()
            visible = visible_gpus(self._library, environment)
        except self._library.AmdSmiException as error:
            raise ProbeUnavailable(f"no AMD driver ({error})") from error
        kept = job.kept or Kept()
        self._states = States(kept.states)
        pids = Pids(job_root(job.watched))
        self._visible = len(visible)
        self._gpus = {
            index: _Gpu(self._library, handle, pids, kept.growths[str(index)])
            for index, handle in own_gpus(visible, job.local_rank).items()
        }
        if not handles:
            raise ProbeUnavailable("no AMD GPU")

    @classmethod
    def of(cls, job: Job) -> AmdProbe:
        return cls(job=job)

    @property
    def allowance(self) -> float:
        return _ALLOWANCE_OF_GPU * max(1, len(self._gpus))

    def facts(self) -> Facts:
        facts: dict[str, Value] = {"facts/gpu_count": self._visible}
        drivers = (gpu.driver for gpu in self._gpus.values())
        driver = next((version for version in drivers if version), None)
        if driver is not None:
            facts["facts/gpu_driver"] = driver
        for index, gpu in self._gpus.items():
            facts.update({f"facts/gpu/{index}/{k}": v for k, v in gpu.facts().items()})
        return facts

    def news(self) -> Facts:
        return self._states.facts

    def sample(self, now: float) -> Sample:
        readings: dict[str, float] = {}
        for index, gpu in self._gpus.items():
            found = gpu.sample(now)
            readings.update({f"gpu/{index}/{path}": v for path, v in found.items()})
            self._states.say(
                f"gpu/{index}", f"fails: {gpu.failure}" if gpu.failure else PRESENT
            )
        return readings


class _Gpu:
    """One GPU; unsupported queries are made only once."""

    def __init__(self, library: Any, handle: Any, pids: Pids, growths: Growths) -> None:
        """`growths` are the counters of this GPU since the agent began."""
        self._library, self._handle, self._pids = library, handle, pids
        self._rates = Rates()
        self._energy = growths["energy"]
        self._pcie, self._shares = Link(growths), Shares()
        # Errors of the last call, by query.
        self._failures: dict[Read, str] = {}
        self._last_metrics: Mapping[str, Any] = {}
        self._often: list[Read] = [self._activity, self._memory, self._power]
        self._often += [self._temperature, self._memory_temperature, self._clock]
        self._seldom: list[Read] = [self._memory_clock, self._joules, self._link]
        self._seldom += [self._errors, self._users, self._limits]
        self._seldom_at = float("-inf")

    @property
    def failure(self) -> str:
        """The error if all frequent queries failed; "" otherwise."""
        failures = [self._failures.get(read, "") for read in self._often]
        return failures[0] if failures and all(failures) else ""

    @property
    def driver(self) -> str | None:
        """The driver's version."""
        info = self._ask("amdsmi_get_gpu_driver_info")
        return _text((info or {}).get("driver_version"))

    def facts(self) -> dict[str, Value]:
        link = (self._ask("amdsmi_get_pcie_info") or {}).get("pcie_static", {})
        chip = self._ask("amdsmi_get_gpu_asic_info") or {}
        memory = self._ask("amdsmi_get_gpu_vram_usage") or {}
        cap = self._ask("amdsmi_get_power_cap_info") or {}
        found: dict[str, Value | None] = {
            "name": _text(chip.get("market_name")),
            "architecture": _text(chip.get("target_graphics_version")),
            "uuid": _text(self._ask("amdsmi_get_gpu_device_uuid")),
            "memory_total_bytes": _whole(memory.get("vram_total"), _MEBIBYTE),
            "pcie_generation_max": _whole(link.get("pcie_interface_version")),
            "pcie_width_max": _whole(link.get("max_pcie_width")),
            "power_limit_watts": number(cap.get("power_cap"), _WATTS_OF_MICROWATT),
        }
        return {name: value for name, value in found.items() if value is not None}

    def sample(self, now: float) -> dict[str, float]:
        readers = [self._often]
        # Half a second of tolerance: samples are never exactly on time.
        if now >= self._seldom_at - 0.5:
            self._seldom_at = now + _SELDOM_SECONDS
            readers.append(self._seldom)
        readings: dict[str, float] = {}
        for some in readers:
            for read in list(some):
                readings.update(known(self._sample_one(some, read, now)))
        return readings

    def _sample_one(
        self, some: list[Read], read: Read, now: float
    ) -> dict[str, float | None]:
        self._failures.pop(read, None)
        try:
            found: dict[str, float | None] = read(now)
        except AttributeError:
            # This version of the library has no such function.
            some.remove(read)
        except self._library.AmdSmiException as error:
            if _is_refusal(error):
                some.remove(read)
            else:
                self._failures[read] = str(error) or repr(error)
        except (KeyError, TypeError):
            # An undocumented format; other queries are still valid.
            return {}
        else:
            return found
        return {}

    def _activity(self, now: float) -> dict[str, float | None]:
        del now
        activity = self._library.amdsmi_get_gpu_activity(self._handle)
        return {
            "utilization_percent": number(activity.get("gfx_activity")),
            "memory_utilization_percent": number(activity.get("umc_activity")),
        }

    def _memory(self, now: float) -> dict[str, float | None]:
        del now
        usage = self._library.amdsmi_get_gpu_vram_usage(self._handle)
        return {"memory_used_bytes": number(usage.get("vram_used"), _MEBIBYTE)}

    def _power(self, now: float) -> dict[str, float | None]:
        del now
        power = self._library.amdsmi_get_power_info(self._handle)
        # Cards have one of these; newer libraries have a name for both.
        names = ("current_socket_power", "socket_power", "average_socket_power")
        found = [number(power.get(name)) for name in names]
        return {"power_watts": next((watts for watts in found if watts), None)}

    def _temperature(self, now: float) -> dict[str, float | None]:
        del now
        kinds = self._library.AmdSmiTemperatureType
        degrees = None
        with contextlib.suppress(self._library.AmdSmiException):
            degrees = self._degrees(kinds.HOTSPOT)
        return {
            "temperature_celsius": (
                self._degrees(kinds.EDGE) if degrees is None else degrees
            )
        }

    def _memory_temperature(self, now: float) -> dict[str, float | None]:
        del now
        kinds = self._library.AmdSmiTemperatureType
        return {"memory_temperature_celsius": self._degrees(kinds.VRAM)}

    def _degrees(self, kind: Any) -> float | None:
        current = self._library.AmdSmiTemperatureMetric.CURRENT
        try:
            found = self._library.amdsmi_get_temp_metric(self._handle, kind, current)
        except self._library.AmdSmiException as error:
            # A card has only some of the sensors.
            if _is_refusal(error):
                return None
            raise
        return number(found)

    def _clock(self, now: float) -> dict[str, float | None]:
        del now
        clock = self._library.amdsmi_get_clock_info(
            self._handle, self._library.AmdSmiClkType.GFX
        )
        return {"sm_clock_mhz": number(clock.get("clk"))}

    def _memory_clock(self, now: float) -> dict[str, float | None]:
        del now
        clock = self._library.amdsmi_get_clock_info(
            self._handle, self._library.AmdSmiClkType.MEM
        )
        return {"memory_clock_mhz": number(clock.get("clk"))}

    def _joules(self, now: float) -> dict[str, float | None]:
        energy = self._library.amdsmi_get_energy_count(self._handle)
        unit = number(energy.get("counter_resolution"), _JOULES_OF_MICROJOULE)
        joules = None if unit is None else number(energy["energy_accumulator"], unit)
        return {
            "energy_joules": self._energy.of(joules),
            "power_mean_watts": self._rates.of({"watts": joules}, now)["watts"],
        }

    def _link(self, now: float) -> dict[str, float | None]:
        del now
        return self._pcie(
            self._library.amdsmi_get_pcie_info(self._handle)["pcie_metric"]
        )

    def _limits(self, now: float) -> dict[str, float | None]:
        del now  # the card has its own clock
        before = self._last_metrics
        self._last_metrics = self._library.amdsmi_get_gpu_metrics_info(self._handle)
        return limits_between(before, self._last_metrics)

    def _errors(self, now: float) -> dict[str, float | None]:
        del now
        errors = self._library.amdsmi_get_gpu_total_ecc_count(self._handle)
        return {
            "ecc_corrected": number(errors.get("correctable_count")),
            "ecc_uncorrected": number(errors.get("uncorrectable_count")),
        }

    def _users(self, now: float) -> dict[str, float | None]:
        found = self._library.amdsmi_get_gpu_process_list(self._handle)
        uses = [Use(int(p["pid"]), _whole(p.get("mem"))) for p in found]
        own = self._pids.own(now)
        self._pids.compare([use.pid for use in uses], own)
        known_own = own if self._pids.is_comparable else None
        return {**use_readings(uses, known_own), **self._shares(found, known_own, now)}

    def _ask(self, name: str, *arguments: Any) -> Any:
        """Return a response; None on an error or if there is no such function."""
        call = getattr(self._library, name, None)
        try:
            return None if call is None else call(self._handle, *arguments)
        except self._library.AmdSmiException:
            return None


def visible_gpus(library: Any, environment: Mapping[str, str]) -> dict[int, Any]:
    """Return the handles of the GPUs that this process may use, by its own indices."""
    gpus = dict(enumerate(library.amdsmi_get_processor_handles()))
    found = (environment.get(variable) for variable in _VISIBLE)
    listed = next((names for names in found if names is not None), None)
    names = [] if listed is None else [name.strip() for name in listed.split(",")]
    if listed is None or any(name.startswith("GPU-") for name in names):
        # Only the driver can resolve a UUID.
        return gpus
    numbers = (int(name) for name in names if name.isdecimal())
    return {number: gpus[number] for number in numbers if number in gpus}


# Any: the library is loaded only if it is installed, and has no types.
def load_library() -> Any:
    if _NVIDIA.exists():
        # Both would be GPU 0; machines with both are rare.
        raise ProbeUnavailable("NVIDIA GPUs are measured instead")
    try:
        with importing():
            import amdsmi  # noqa: PLC0415
    except (ImportError, OSError, KeyError, AttributeError) as error:
        # Without the driver's own library, loading it fails in several ways.
        raise ProbeUnavailable(f"AMD's library cannot be loaded ({error})") from error
    return DriverLibrary(amdsmi, "amdsmi_")


def _is_refusal(error: Exception) -> bool:
    return getattr(error, "err_code", None) in _REFUSED


def _whole(value: object, factor: int = 1) -> int | None:
    found = number(value)
    return None if found is None else int(found) * factor


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value not in ("", "N/A") else None
