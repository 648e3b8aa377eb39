"""The whole server started by `python3 manage.py up`, and its recovery."""

from __future__ import annotations

import http.client
import signal
import socket
import time
from contextlib import closing

import psutil
import pytest

from tests.services import free_port
from tests.slow.end_to_end.installation import CHILDREN, eventually

pytestmark = [pytest.mark.processes, pytest.mark.timeout(600)]


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


def test_it_starts_prints_a_link_and_does_its_work(first_up):
    lines = first_up.start()

    link = next(line.split()[-1] for line in lines if "/sign-in/" in line)
    assert link.startswith(f"{first_up.url}/sign-in/")
    assert visit(link) < 400
    assert first_up.agent_file()["url"] == first_up.url
    assert first_up.send("first", [0.5, float("nan"), 0.25]) == 2
    # The worker and the scheduler compact the received points.
    eventually(lambda: first_up.count("tracker_serieschunk") == 1)
    # Both background processes report that they run.
    eventually(lambda: first_up.count("tracker_heartbeat") == 2)
    # The scripts are compressed before the first page request.
    eventually(lambda: any((first_up.data / "assets").glob("*.br")))
    assert first_up.stop() == 0


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


@pytest.mark.parametrize("name", ["web", "worker"])
def test_a_child_that_is_killed_is_back(running, name):
    chunks = running.count("tracker_serieschunk")
    running.send(f"before {name}", [1.0, 2.0])
    first = eventually(lambda: running.child(name))

    first.kill()

    second = eventually(
        lambda: (one := running.child(name)) and one.pid != first.pid and one
    )
    eventually(running.answers)
    assert running.send(f"after {name}", [3.0]) == 2
    eventually(lambda: running.count("tracker_serieschunk") == chunks + 2)
    assert second.is_running()


def test_killing_granians_own_worker_brings_the_web_back(running):
    web = eventually(lambda: running.child("web"))
    worker = eventually(
        lambda: next(
            (one for one in web.children() if CHILDREN["web"] in one.cmdline()), None
        )
    )

    worker.kill()

    eventually(lambda: not worker.is_running() and running.answers())


def test_killing_the_supervisor_leaves_no_process_and_the_port_free(up):
    up.start()
    eventually(lambda: all(up.child(name) for name in ("web", "worker")))
    family = up.family()

    up.process.kill()
    up.process.wait()

    _, alive = psutil.wait_procs(family, timeout=30)
    assert alive == []
    assert is_free(up.port)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_stops_within_seconds_and_leaves_no_process(up, number):
    up.start()
    family = up.family()
    start = time.monotonic()

    assert up.stop(number) == 0

    assert time.monotonic() - start < 30
    assert not [process for process in family if process.is_running()]
    assert is_free(up.port)


def test_a_second_server_on_the_same_data_is_refused_in_one_line(running):
    result = running.manage("up", SEAMARK_PORT=str(free_port()))

    assert result.returncode == 1
    assert "already running" in result.stderr
    assert result.stderr.count("\n") == 1
    assert running.answers()


def test_a_port_in_use_is_refused_in_one_line(up):
    with socket.socket() as other:
        other.bind(("127.0.0.1", up.port))
        other.listen()

        result = up.manage("up")

    assert result.returncode == 1
    assert f"Port {up.port}" in result.stderr
    assert "--port" in result.stderr
    assert result.stderr.count("\n") == 1


def test_link_prints_another_link_to_the_running_server(running):
    # Started from another folder, it has only the data folder.
    result = running.manage("link", SEAMARK_PORT="1")

    assert result.stdout.startswith(f"{running.url}/sign-in/")
    assert visit(result.stdout.strip()) < 400
