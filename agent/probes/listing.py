"""The classes of all probes, imported when they are needed."""

from __future__ import annotations

from importlib import import_module

from agent.background import importing
from agent.probes import PROBES
from agent.probes.probe import Probe


def probe_classes() -> list[type[Probe]]:
    with importing():
        return [
            getattr(import_module(f"agent.probes.{module}"), name)
            for module, name in PROBES
        ]
