"""Imports the classes of all probes on demand."""

from __future__ import annotations

from importlib import import_module

from seamark.lifecycle.background import importing
from seamark.probes import PROBES
from seamark.probes.probe import Probe


def probe_classes() -> list[type[Probe]]:
    with importing():
        return [
            getattr(import_module(f"seamark.probes.{module}"), name)
            for module, name in PROBES
        ]
