"""How fast batches are stored, through a real server: `python -m benchmarks.ingest`.

Uses SQLite in a folder of its own, or the database that SEAMARK_DATABASE_URL names,
which it fills with runs of a project called "benchmark".
"""

from __future__ import annotations

import http.client
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass
from uuid import uuid4

import zstandard

from agent import messages
from agent.frames import Frame

METRICS = 20
# An agent sends about once a second; 100 steps a second is a fast training loop.
STEPS_IN_BATCH = 100
BATCHES = 400
CLIENTS = (1, 4)
START_SECONDS = 30.0
START = 1_767_225_600_000_000


@dataclass(frozen=True)
class Sent:
    """What one client saw: when it began and ended, and how long each answer took."""

    began: float
    ended: float
    seconds: list[float]


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.environ["SEAMARK_DATA"] = folder
        os.environ["DJANGO_SETTINGS_MODULE"] = "tracker.settings"
        token = prepare_database()
        with server() as port:
            for clients in CLIENTS:
                measure(port, token, clients)


def prepare_database() -> str:
    # Django reads the environment when it loads, so not before it is set.
    import django  # noqa: PLC0415

    django.setup()
    from django.core.management import call_command  # noqa: PLC0415

    from tracker.actions.access import found_installation, make_token  # noqa: PLC0415
    from tracker.actor import Scope  # noqa: PLC0415

    call_command("migrate", verbosity=0)
    return make_token(found_installation(), "benchmark", Scope.FULL)


@contextmanager
def server() -> Iterator[int]:
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    options = f"--interface wsgi --port {port} --workers 1 --blocking-threads 4".split()
    process = subprocess.Popen(
        [sys.executable, "-m", "granian", *options, "tracker.wsgi:application"],
        stdout=subprocess.DEVNULL,
    )
    try:
        wait_for(port)
        yield port
    finally:
        process.terminate()
        process.wait()


def wait_for(port: int) -> None:
    deadline = time.monotonic() + START_SECONDS
    with closing(socket.socket()) as probe:
        while probe.connect_ex(("127.0.0.1", port)):
            if time.monotonic() > deadline:
                raise SystemExit("The server did not start.")
            time.sleep(0.05)


def measure(port: int, token: str, clients: int) -> None:
    run = f"run-{uuid4()}"
    with ProcessPoolExecutor(clients) as pool:
        sent = list(
            pool.map(send, [port] * clients, [token] * clients, [run] * clients)
        )
    seconds = max(one.ended for one in sent) - min(one.began for one in sent)
    points = clients * BATCHES * STEPS_IN_BATCH * METRICS
    answers = sorted(answer for one in sent for answer in one.seconds)
    slow = answers[int(0.99 * len(answers))]
    readable, read_seconds = read_back(run, points)
    print(
        f"{clients} client(s): {points / seconds:10,.0f} points/s stored, an answer in"
        f" {1e3 * statistics.median(answers):.1f} ms (p99 {1e3 * slow:.1f});"
        f" {readable:,} of {points:,} points read from the journal"
        f" in {read_seconds:.2f} s"
    )


def send(port: int, token: str, run: str) -> Sent:
    """One process that logs; batches are made before the clock starts."""
    compress = zstandard.ZstdCompressor(level=3).compress
    bodies = [compress(frame) for frame in frames(run)]
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    address = f"/api/v1/ingest/{uuid4()}"
    headers = {
        "Authorization": f"Bearer {token}",
        "Content-Type": "application/vnd.seamark.frames",
        "Content-Encoding": "zstd",
    }

    seconds = []
    began = time.time()
    for body in bodies:
        asked = time.perf_counter()
        connection.request("POST", address, body, headers)
        response = connection.getresponse()
        answer = response.read()
        if response.status != http.client.OK:
            raise SystemExit(f"{response.status}: {answer.decode()}")
        seconds.append(time.perf_counter() - asked)
    return Sent(began, time.time(), seconds)


def frames(run: str) -> Iterator[bytes]:
    origin = messages.Origin(
        "benchmark", run, "train", 0, "host", os.getpid(), "0.1.0", START
    )
    yield Frame(1, messages.payload([messages.open_spool(origin)])).to_bytes()
    for batch in range(BATCHES):
        steps = range(batch * STEPS_IN_BATCH, (batch + 1) * STEPS_IN_BATCH)
        times = [START + 10_000 * step for step in steps]
        payload = messages.payload(
            [
                messages.points(
                    [f"train/metric-{metric}" for metric in range(METRICS)],
                    [float(step) for step in steps],
                    times,
                    [
                        [1.0 / (1 + step) + metric for step in steps]
                        for metric in range(METRICS)
                    ],
                )
            ]
        )
        yield Frame(batch + 2, payload).to_bytes()


def read_back(name: str, expected: int) -> tuple[int, float]:
    """Read every series of the run as charts do, until all points are there."""
    from tracker.models import Run  # noqa: PLC0415
    from tracker.queries.series import read_many_points  # noqa: PLC0415

    began = time.perf_counter()
    paths = [f"train/metric-{metric}" for metric in range(METRICS)]
    points = read_many_points(Run.objects.get(name=name), paths)
    found = sum(len(some) for some in points.values())
    if found != expected:
        raise SystemExit(f"{found} points of {expected} are there.")
    return found, time.perf_counter() - began


if __name__ == "__main__":
    main()
