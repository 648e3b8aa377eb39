"""Scripts find this repository first, and then what their caller finds."""

from __future__ import annotations

import pytest

from benchmarks.agent_faults.scripts import Place
from tracker.processes import ROOT


@pytest.mark.parametrize(
    ("inherited", "path"),
    [("", f"{ROOT}"), ("/packages:/more", f"{ROOT}:/packages:/more")],
)
def test_packages_that_only_the_caller_finds_are_found(
    inherited, path, tmp_path, monkeypatch
):
    monkeypatch.setenv("PYTHONPATH", inherited)

    assert Place(tmp_path, "").environment["PYTHONPATH"] == path
