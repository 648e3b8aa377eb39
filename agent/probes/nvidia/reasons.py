"""Reasons for reduced GPU clocks, sampled."""

from __future__ import annotations

import contextlib
from typing import Any

# Bits of the reason mask, reported as 0 or 1.
_REASONS = {
    0x2: "limited/application_clocks_share",
    0x4: "limited/power_share",
    0x8: "limited/hardware_slowdown_share",
    0x10: "limited/sync_boost_share",
    0x20: "limited/thermal_software_share",
    0x40: "limited/thermal_hardware_share",
    0x80: "limited/power_brake_share",
    0x100: "limited/display_clocks_share",
}
# From driver 615 on, and only if the driver lists them as supported.
_NEWER_REASONS = {
    0x200: "limited/board_share",
    0x400: "limited/reliability_share",
}
_IDLE = {0x1: "idle_share"}
_NAMED = _IDLE | _REASONS | _NEWER_REASONS
# Used if the driver does not list the supported reasons.
_ALWAYS_SUPPORTED = sum(_IDLE | _REASONS)


class Reasons:
    """The reasons of one GPU, each as 0 or 1."""

    name = "reasons"

    def __init__(self, library: Any, gpu: Any) -> None:
        self._library, self._gpu = library, gpu
        self._supported: int | None = None

    def __call__(self, now: float) -> dict[str, float]:
        del now  # an instantaneous value
        library = self._library
        try:
            mask = library.nvmlDeviceGetCurrentClocksEventReasons(self._gpu)
        except (AttributeError, library.NVMLError):
            mask = library.nvmlDeviceGetCurrentClocksThrottleReasons(self._gpu)
        if self._supported is None:
            self._supported = self._supported_bits()
        return shares_of(mask, self._supported)

    def _supported_bits(self) -> int:
        library = self._library
        for kind in ("EventReasons", "ThrottleReasons"):
            # Older drivers have an older name for it.
            with contextlib.suppress(AttributeError, library.NVMLError):
                supported = getattr(library, f"nvmlDeviceGetSupportedClocks{kind}")
                return int(supported(self._gpu))
        return _ALWAYS_SUPPORTED


def shares_of(mask: int, reported: int) -> dict[str, float]:
    """Return 1 for each active reason, 0 for the others (pure).

    Unsupported bits, not in `reported`, are always 0 and are omitted.
    """
    return {
        path: float(bool(mask & bit)) for bit, path in _NAMED.items() if reported & bit
    }
