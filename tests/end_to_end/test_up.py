"""The whole server as `python3 manage.py up` starts it, and what it survives."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.request
from contextlib import closing, suppress
from pathlib import Path
from uuid import uuid4

import psutil
import pytest

from tests.builders import frames, open_message, points_message
from tests.services import free_port

pytestmark = [pytest.mark.processes, pytest.mark.timeout(240)]

ROOT = Path(__file__).resolve().parents[2]
CHILDREN = {
    "web": "tracker.embedded.web:application",
    "worker": "worker",
    "scheduler": "beat",
    "forwarder": "sync",
}


def eventually(is_so, seconds=30.0):
    deadline = time.monotonic() + seconds
    while not (value := is_so()):
        assert time.monotonic() < deadline, "did not happen in time"
        time.sleep(0.05)
    return value


class Up:
    """`manage.py up` in a home of its own."""

    def __init__(self, home, port):
        self.home = home
        self.port = port
        self.url = f"http://127.0.0.1:{port}"
        self.data = home / "data"
        self.environment = {
            **os.environ,
            "HOME": str(home),
            "SEAMARK_DATA": str(self.data),
            "SEAMARK_PORT": str(port),
            "XDG_CONFIG_HOME": str(home / "config"),
            "XDG_STATE_HOME": str(home / "state"),
        }
        # The server's own database, also while the tests use PostgreSQL.
        self.environment.pop("SEAMARK_DATABASE_URL", None)
        self.process = None

    def start(self):
        self.process = subprocess.Popen(
            [sys.executable, "-u", "manage.py", "up"],
            cwd=ROOT,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        lines = []
        for line in self.process.stdout:
            lines.append(line)
            if "Ctrl-C" in line:
                return lines
        raise AssertionError(f"it did not start: {lines}")

    def manage(self, *arguments, **environment):
        return subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=ROOT,
            env={**self.environment, **environment},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def family(self):
        return psutil.Process(self.process.pid).children(recursive=True)

    def child(self, name):
        """Return the supervisor's child of this name, if it is running its program."""
        for process in psutil.Process(self.process.pid).children():
            with suppress(psutil.NoSuchProcess):
                if CHILDREN[name] in process.cmdline():
                    return process
        return None

    def answers(self):
        try:
            with urllib.request.urlopen(f"{self.url}/livez", timeout=5) as response:
                return response.status == 200
        except OSError:
            return False

    def agent_file(self):
        return json.loads((self.home / "config/seamark/agent.json").read_text())

    def send(self, run, values):
        """Log a series as an agent would; return how many frames are stored."""
        batch = [[open_message(run)], [points_message("loss", values)]]
        request = urllib.request.Request(
            f"{self.url}/api/v1/ingest/{uuid4()}",
            data=frames(batch),
            headers={
                "Authorization": f"Bearer {self.agent_file()['token']}",
                "Content-Type": "application/vnd.seamark.frames",
            },
        )
        with urllib.request.urlopen(request, timeout=20) as response:
            return json.load(response)["stored"]

    def count(self, table):
        path = f"file:{self.data / 'seamark.sqlite3'}?mode=ro"
        with closing(sqlite3.connect(path, uri=True)) as database:
            return database.execute(f"SELECT COUNT(*) FROM {table}").fetchone()[0]

    def stop(self, number=signal.SIGINT):
        self.process.send_signal(number)
        self.process.communicate(timeout=30)
        return self.process.returncode


@pytest.fixture
def up(tmp_path):
    up = Up(tmp_path, free_port())
    yield up
    if up.process is not None:
        up.process.kill()
        up.process.communicate()


def is_free(port):
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def visit(link):
    """Open a link as a browser does that keeps no cookies; return the status."""
    host, _, path = link.removeprefix("http://").partition("/")
    connection = http.client.HTTPConnection(host, timeout=20)
    with closing(connection):
        connection.request("GET", f"/{path}")
        return connection.getresponse().status


def test_it_starts_prints_a_link_and_does_its_work(up):
    lines = up.start()

    link = next(line.split()[-1] for line in lines if "/sign-in/" in line)
    assert link.startswith(f"{up.url}/sign-in/")
    assert visit(link) < 400
    assert up.agent_file()["url"] == up.url
    assert up.send("first", [0.5, float("nan"), 0.25]) == 2
    # The worker and the scheduler together make chunks of what was sent.
    eventually(lambda: up.count("tracker_serieschunk") == 1)
    assert up.stop() == 0


def test_a_second_start_finds_everything_as_it_was(up):
    up.start()
    token = up.agent_file()
    up.send("first", [1.0, 2.0])
    key = (up.data / "secret-key").read_text()
    up.stop()

    up.start()

    assert up.agent_file() == token
    assert (up.data / "secret-key").read_text() == key
    assert up.count("tracker_run") == 1
    assert up.send("second", [1.0]) == 2
    up.stop()


@pytest.mark.parametrize("name", ["web", "worker", "scheduler"])
def test_a_child_that_is_killed_is_back_within_seconds(up, name):
    up.start()
    up.send("before", [1.0, 2.0])
    first = eventually(lambda: up.child(name))

    first.kill()

    second = eventually(
        lambda: (one := up.child(name)) and one.pid != first.pid and one, seconds=5
    )
    eventually(up.answers, seconds=5)
    assert up.send("after", [3.0]) == 2
    eventually(lambda: up.count("tracker_serieschunk") == 2)
    assert second.is_running()


def test_killing_granians_own_worker_brings_the_web_back(up):
    up.start()
    web = up.child("web")
    worker = next(one for one in web.children() if CHILDREN["web"] in one.cmdline())

    worker.kill()

    eventually(lambda: not worker.is_running() and up.answers(), seconds=10)


def test_killing_the_supervisor_leaves_no_process_and_the_port_free(up):
    up.start()
    eventually(lambda: all(up.child(name) for name in ("web", "worker", "scheduler")))
    family = up.family()

    up.process.kill()
    up.process.wait()

    _, alive = psutil.wait_procs(family, timeout=5)
    assert alive == []
    assert is_free(up.port)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_stops_within_seconds_and_leaves_no_process(up, number):
    up.start()
    family = up.family()
    start = time.monotonic()

    assert up.stop(number) == 0

    assert time.monotonic() - start < 12
    assert not [process for process in family if process.is_running()]
    assert is_free(up.port)


def test_a_second_server_on_the_same_data_is_refused_in_one_line(up):
    up.start()

    result = up.manage("up", SEAMARK_PORT=str(free_port()))

    assert result.returncode == 1
    assert "already running" in result.stderr
    assert result.stderr.count("\n") == 1
    assert up.answers()


def test_a_port_in_use_is_refused_in_one_line(up):
    with socket.socket() as other:
        other.bind(("127.0.0.1", up.port))
        other.listen()

        result = up.manage("up")

    assert result.returncode == 1
    assert f"Port {up.port}" in result.stderr
    assert "--port" in result.stderr
    assert result.stderr.count("\n") == 1


def test_link_prints_another_link_to_the_running_server(up):
    up.start()

    # Asked from elsewhere, it knows the data folder and nothing else.
    result = up.manage("link", SEAMARK_PORT="1")

    assert result.stdout.startswith(f"{up.url}/sign-in/")
    assert visit(result.stdout.strip()) < 400
