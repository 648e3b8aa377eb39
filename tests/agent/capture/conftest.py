from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def everything_is_captured(clean_environment, monkeypatch):
    monkeypatch.delenv("SEAMARK_CAPTURE")
    monkeypatch.setenv("SEAMARK_MONITOR", "no")
    # On a machine that is busy with other tests delivery may take its time.
    monkeypatch.setenv("SEAMARK_EXIT_SECONDS", "20")
