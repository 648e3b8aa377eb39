"""Converts the settings of a run to a handle for other processes, and back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from seamark.settings import Mode, Settings


# Any: values of settings.
def handle_of(settings: Settings) -> dict[str, Any]:
    """Return names and folders as plain values, never with a token."""
    return {
        **settings._asdict(),
        "mode": settings.mode.value,
        "spool": str(settings.spool),
        # Not needed in a process that does not measure.
        "dataset": None,
    }


def settings_of(handle: dict[str, Any]) -> Settings:
    """Return the settings of a process that joins the run of a handle."""
    return Settings(
        **{
            **handle,
            "mode": Mode(handle["mode"]),
            "spool": Path(handle["spool"]),
            # The process that made the run measures the machine.
            "monitor": False,
            "capture": frozenset(),
            "tensorboard": None,
            "is_helper": True,
        }
    )
