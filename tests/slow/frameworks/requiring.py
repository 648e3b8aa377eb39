"""Skips a test file if its framework is not installed."""

from __future__ import annotations

from typing import Any

import pytest


def framework(name: str) -> Any:
    return pytest.importorskip(
        name, reason=f"{name} is not installed: python3 manage.py test --frameworks"
    )
