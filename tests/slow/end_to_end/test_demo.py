"""The first command of the README, shortened."""

from __future__ import annotations

import pytest

pytestmark = [pytest.mark.processes, pytest.mark.timeout(1200)]


def test_the_demo_climbs_four_rungs_and_ends(first_up):
    first_up.environment["PYTHONWARNINGS"] = "default"

    demo = first_up.manage("demo", "--exit", "--epochs", "1", seconds=1_000)

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
    assert f"{first_up.url}/ladders/" in demo.stdout
    assert "Traceback" not in demo.stderr
    assert first_up.manage("demo", "--port", "nonsense").returncode != 0


def table(text):
    lines = text.splitlines()
    start = next(n for n, line in enumerate(lines) if line.startswith("run  "))
    return lines[start : start + 5]
