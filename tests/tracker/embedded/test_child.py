from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

import pytest

from tracker.embedded import child as child_module
from tracker.embedded.child import Child, Program
from tracker.embedded.supervisor import Supervisor

pytestmark = pytest.mark.processes

SLEEP = "import time; time.sleep(60)"
# Starts a subprocess and ends, leaving it behind.
LEAVES_ONE_BEHIND = """
import subprocess, sys
print(subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]).pid)
"""


def program(source, name="web"):
    return Program(name, (sys.executable, "-c", source), os.environ)


def eventually(is_so, seconds=60):
    deadline = time.monotonic() + seconds
    while not (value := is_so()):
        assert time.monotonic() < deadline, "did not happen in time"
        time.sleep(0.02)
    return value


def is_alive(process_id):
    try:
        status = Path(f"/proc/{process_id}/stat").read_text(encoding="ascii")
    except FileNotFoundError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z"


@pytest.fixture
def lines():
    return []


@pytest.fixture
def supervise(tmp_path, lines):
    """Start a supervisor for programs; it is stopped at the end of the test."""
    started = []

    def start(*programs):
        supervisor = Supervisor(programs, log_folder=tmp_path, print_line=lines.append)
        started.append(supervisor)
        supervisor.start()
        return supervisor

    yield start
    for supervisor in started:
        supervisor.stop()


def process_of(supervisor):
    return eventually(lambda: supervisor.children[0].process)


def test_a_child_that_is_killed_is_started_again_and_said(supervise, lines):
    supervisor = supervise(program(SLEEP))
    first = process_of(supervisor).pid

    os.kill(first, signal.SIGKILL)

    second = eventually(
        lambda: (one := supervisor.children[0].process) and one.pid != first and one.pid
    )
    assert is_alive(second)
    assert lines == ["The web ended (signal 9) and is restarted."]


def test_a_child_that_keeps_ending_is_reported_in_one_line_and_restarted_less_often(
    supervise, lines, tmp_path
):
    supervise(program("print('no such table'); raise SystemExit(3)", "worker"))

    eventually(lambda: len(lines) == 3)

    assert "keeps ending (code 3)" in lines[-1]
    assert str(tmp_path / "worker.log") in lines[-1]
    assert "no such table" in (tmp_path / "worker.log").read_text()


def test_the_pause_grows_and_is_forgotten_after_steady_work(tmp_path, lines):
    child = Child(program("pass"), log_folder=tmp_path, print_line=lines.append)
    longest = child_module.LONGEST_PAUSE_SECONDS
    for pause in (0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, longest, longest):
        child._start_again_at = 0
        child.look()
        child.process.wait()
        before = time.monotonic()
        child.look()
        assert before <= child._start_again_at - pause <= time.monotonic()
    assert len(lines) == 3


def test_processes_left_by_an_ended_child_are_killed(supervise, tmp_path):
    supervise(program(LEAVES_ONE_BEHIND))
    log = tmp_path / "web.log"

    left = int(eventually(lambda: log.exists() and log.read_text().split())[0])

    eventually(lambda: not is_alive(left))


def test_stopping_ends_every_child(supervise):
    supervisor = supervise(program(SLEEP), program(SLEEP, "worker"))
    eventually(lambda: all(child.process for child in supervisor.children))
    ids = [child.process.pid for child in supervisor.children]

    supervisor.stop()
    supervisor.stop()

    assert not any(is_alive(process_id) for process_id in ids)


def test_a_child_that_will_not_stop_is_killed(supervise, monkeypatch, tmp_path):
    monkeypatch.setattr("tracker.embedded.supervisor.STOP_SECONDS", 0.3)
    stubborn = (
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
        "print('ready', flush=True); time.sleep(60)"
    )
    supervisor = supervise(program(stubborn))
    log = tmp_path / "web.log"
    eventually(lambda: log.exists() and "ready" in log.read_text())
    process_id = process_of(supervisor).pid

    supervisor.stop()

    assert not is_alive(process_id)


def test_a_log_that_grew_too_long_is_put_aside_while_it_is_written(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(child_module, "LOG_SIZE_BYTES", 1_000)
    child = Child(program(SLEEP), log_folder=tmp_path, print_line=print)
    with (tmp_path / "web.log").open("a") as log:
        log.write("old\n" * 300)
        log.flush()

        child.limit_log()
        log.write("new\n")

    assert (tmp_path / "web.log").read_text() == "new\n"
    assert (tmp_path / "web.log.1").read_text() == "old\n" * 300
