"""The first command of the README, shortened."""

from __future__ import annotations

import pytest

pytestmark = [pytest.mark.processes, pytest.mark.timeout(400)]


def test_the_demo_climbs_four_rungs_and_ends(up):
    up.environment["PYTHONWARNINGS"] = "default"

    demo = up.manage("demo", "--exit", "--epochs", "2", seconds=360)

    assert demo.returncode == 0, demo.stderr
    header, *rungs = table(demo.stdout)
    assert header.split()[:2] == ["run", "ms/step"]
    assert [rung.split()[0] for rung in rungs] == [
        "baseline",
        "decoded-ahead",
        "loader-workers",
        "larger-batch",
    ]
    assert "data" in rungs[0]  # its finding: too few processes load the data, or so
    assert f"{up.url}/ladders/" in demo.stdout
    assert "Traceback" not in demo.stderr
    assert up.manage("demo", "--port", "nonsense").returncode != 0


def table(text):
    lines = text.splitlines()
    start = next(n for n, line in enumerate(lines) if line.startswith("run  "))
    return lines[start : start + 5]
