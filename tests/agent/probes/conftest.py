from __future__ import annotations

import pynvml
import pytest

from tests.agent.probes.nvidia.nvml_double import Card, NvmlDouble


@pytest.fixture
def driver(monkeypatch):
    """Put a driver with these cards behind the real binding."""

    def install(*cards: Card) -> NvmlDouble:
        double = NvmlDouble(*cards)
        monkeypatch.setattr(pynvml, "nvmlLib", double)
        monkeypatch.setattr(pynvml, "_nvmlGetFunctionPointer_cache", {})
        return double

    return install
