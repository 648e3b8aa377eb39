"""Why a GPU's clocks are lower than they could be, at the moment."""

from __future__ import annotations

import contextlib
from typing import Any

# The bits of the mask of reasons, as shares of the moment they were seen at.
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
# Of drivers from 615 on: one that does not say that it tells them does not.
_NEWER_REASONS = {
    0x200: "limited/board_share",
    0x400: "limited/reliability_share",
}
_IDLE = {0x1: "idle_share"}
_NAMED = _IDLE | _REASONS | _NEWER_REASONS
# Where the driver does not say what it tells.
_ALWAYS_TOLD = sum(_IDLE | _REASONS)


class Reasons:
    """The reasons of one GPU, each as 0 or 1."""

    name = "reasons"

    def __init__(self, library: Any, gpu: Any) -> None:
        self._library, self._gpu = library, gpu
        self._told: int | None = None

    def __call__(self, now: float) -> dict[str, float]:
        del now  # at the moment
        library = self._library
        try:
            mask = library.nvmlDeviceGetCurrentClocksEventReasons(self._gpu)
        except (AttributeError, library.NVMLError):
            mask = library.nvmlDeviceGetCurrentClocksThrottleReasons(self._gpu)
        if self._told is None:
            self._told = self._bits_it_tells()
        return shares_of(mask, self._told)

    def _bits_it_tells(self) -> int:
        library = self._library
        for kind in ("EventReasons", "ThrottleReasons"):
            # Older drivers know it by its older name.
            with contextlib.suppress(AttributeError, library.NVMLError):
                supported = getattr(library, f"nvmlDeviceGetSupportedClocks{kind}")
                return int(supported(self._gpu))
        return _ALWAYS_TOLD


def shares_of(mask: int, told: int) -> dict[str, float]:
    """Return 1 for each reason that holds at the moment, 0 for the others (pure).

    Bits that are not `told` are 0 whatever holds: of these nothing is said.
    """
    return {path: float(bool(mask & bit)) for bit, path in _NAMED.items() if told & bit}
