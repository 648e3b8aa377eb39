from __future__ import annotations

import logging
import re
import struct
import threading
from pathlib import Path
from typing import NamedTuple

import pytest

import agent
from agent import background
from agent.notices import Notices
from agent.probes import sampler
from agent.probes.sampler import Sampler
from agent.recorder import Recorder
from agent.rows import Row, read_row
from tests.agent.conftest import REPOSITORY, wait_until


class Probe:
    name = "test"

    def __init__(self, readings=None):
        self.readings = readings
        self.asked = 0

    def facts(self):
        return {"facts/name": "x"}

    def sample(self, now):
        self.asked += 1
        if self.readings is None:
            raise OSError("gone")
        return self.readings


@pytest.fixture
def sample():
    """Take turns with given probes, and return what they logged."""

    def take(*probes, turns=1):
        recorder = Recorder(Notices(), wake=lambda: False, strict=False)
        recorder.begin(None)
        made = Sampler(
            "m",
            recorder,
            Notices(),
            agent_cpu_seconds=lambda: 0.5,
            probes=lambda notices: list(probes),
        )
        for _ in range(turns):
            made.turn()
        layouts = recorder.layouts.by_number
        return Taken(
            facts={c.path: c.value for c in recorder.buffer.take_changes()},
            rows=[read_row(r, 0, layouts) for r in recorder.buffer.take_rows(2**20)],
        )

    return take


class Taken(NamedTuple):
    facts: dict[str, object]
    rows: list[Row]


def test_readings_are_numbered_by_interval(sample):
    facts, rows = sample(Probe({"cpu": 1.0}))

    assert facts == {"m/facts/name": "x", "m/facts/framework": "plain"}
    assert [row.paths for row in rows] == [("m/cpu", "m/agent/cpu_seconds")]
    assert [row.step for row in rows] == [0.0]
    assert [row.values for row in rows] == [struct.pack("<2d", 1.0, 0.5)]


def test_a_probe_that_fails_is_told_once_and_left_alone(sample, caplog):
    failing, fine = Probe(None), Probe({"cpu": 1.0})

    taken = sample(failing, fine)

    assert [row.paths[0] for row in taken.rows] == ["m/cpu"]
    assert [r.levelname for r in caplog.records] == ["WARNING"]
    sample(failing, fine, turns=3)
    assert failing.asked == 2


def test_a_slow_probe_is_asked_less_often(sample, monkeypatch):
    monkeypatch.setattr(sampler, "BUDGET_SECONDS", -1.0)
    slow = Probe({"cpu": 1.0})

    sample(slow, turns=5)

    assert slow.asked == 1


def test_no_gpu_driver_is_said_once_as_information(caplog):
    caplog.set_level(logging.INFO, "agent")

    names = [probe.name for probe in sampler.make_probes(Notices())]

    assert names[:2] == ["host", "process"]
    if "nvml" not in names:
        assert [r.levelname for r in caplog.records if "NVIDIA" in r.message] == [
            "INFO"
        ]


def test_a_real_run_logs_only_paths_the_documentation_lists(tracker):
    run = agent.init("r", stage="train")
    wait_until(lambda: len(tracker.values("monitoring/train/job/cpu_cores")) >= 1)
    run.finish()

    written = {m["path"] for m in tracker.messages() if "path" in m}
    written |= {path for m in tracker.of_kind("points") for path in m["paths"]}
    page = (REPOSITORY / Path("docs/monitoring.md")).read_text("utf-8")
    listed = set(re.findall(r"`([a-z_]+/[a-z_/<>]+)`", page))
    plain = {re.sub(r"gpu/\d+/", "gpu/<i>/", p.split("/", 2)[2]) for p in written}
    assert plain <= listed
    assert {
        "host/cpu_percent",
        "job/workers",
        "facts/effective_cores",
        "agent/cpu_seconds",
    } <= plain


def test_a_probe_is_one_file_and_one_line():
    folder = REPOSITORY / "agent" / "probes"
    source = (folder / "sampler.py").read_text("utf-8")
    others = {"__init__", "probe", "rates", "sampler"}

    for file in folder.glob("*.py"):
        if file.stem not in others:
            assert f"agent.probes.{file.stem} import" in source


def test_a_driver_that_takes_its_time_keeps_no_process_from_forking(monkeypatch):
    waiting, done = threading.Event(), threading.Event()

    def slow():
        waiting.set()
        assert done.wait(10)

    monkeypatch.setattr("agent.probes.nvml.NvmlProbe", slow)
    thread = threading.Thread(target=sampler.make_probes, args=(Notices(),))
    thread.start()
    assert waiting.wait(10)

    is_free = background._importing.acquire(timeout=1)

    assert is_free
    background._importing.release()
    done.set()
    thread.join()
