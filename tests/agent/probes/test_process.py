from __future__ import annotations

import subprocess
import sys
import time

import pytest

from agent.probes.process import ProcessProbe
from tests.agent.conftest import wait_until

BUSY = "import time\nend = time.monotonic() + 60\nwhile time.monotonic() < end: pass"
PARENT = f"""
import subprocess, sys, threading
child = []
def start(): child.append(subprocess.Popen([sys.executable, "-c", {BUSY!r}]))
thread = threading.Thread(target=start); thread.start(); thread.join()
sys.stdin.readline()
child[0].kill(); child[0].wait()
sys.stdin.readline()
"""


@pytest.fixture
def parent():
    process = subprocess.Popen([sys.executable, "-c", PARENT], stdin=subprocess.PIPE)
    yield process
    process.kill()
    process.wait()
    process.stdin.close()


def test_workers_are_found_counted_and_their_time_added(parent):
    probe = ProcessProbe(parent.pid)
    now = 0.0

    def sample():
        nonlocal now
        now = time.monotonic()
        return probe.sample(now)

    wait_until(lambda: sample().get("job/workers") == 1)
    # Counters too young for a rate keep their older start: after the first wait,
    # all are read at once, and the second reading covers one span for all.
    for _ in range(2):
        wait_until(lambda: time.monotonic() > now + 0.6)
        reading = sample()

    assert reading["job/worker_cpu_cores"] > 0.1
    assert reading["job/cpu_cores"] >= reading["job/worker_cpu_cores"] * 0.9
    assert reading["job/main_cpu_cores"] < reading["job/cpu_cores"]
    assert reading["job/memory_bytes"] > 2**20

    parent.stdin.write(b"\n")
    parent.stdin.flush()
    wait_until(lambda: sample().get("job/workers") == 0)
    assert "job/worker_cpu_cores" not in sample()


def test_a_process_without_children_has_no_worker_time():
    command = [sys.executable, "-c", "input()"]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as alone:
        probe = ProcessProbe(alone.pid)
        probe.sample(0.0)

        assert "job/worker_cpu_cores" not in probe.sample(1.0)
        alone.communicate(b"\n")
