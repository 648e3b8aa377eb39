"""Measures upload and download of a large file: time and memory.

    .venv/bin/python -m benchmarks.files [--mib 1024]

Starts the server as `manage.py up` does, stores one file of random bytes with the
agent, and reads it back: as a whole, as a ZIP, and by slow readers.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

from tests.services import free_port
from tracker.embedded.server import EmbeddedServer

MIB = 1024 * 1024
LOOK_SECONDS = 0.02
SLOW_READERS = 4
SLOW_BYTES_PER_SECOND = 256 * 1024

MAKE_TOKEN = """
import django
django.setup()
from tracker.actions.access import found_installation, make_token
from tracker.actor import Scope
print(make_token(found_installation(), "benchmark", Scope.MANAGE))
"""
UPLOAD = """
import json, sys, threading, time
import agent, psutil
me = psutil.Process()
run = agent.init("large", project="files", monitor=False)
run["warm"].append(1.0)
time.sleep(2)
before = peak = me.memory_info().rss
is_over = False
def look():
    global peak
    while not is_over:
        peak = max(peak, me.memory_info().rss)
        time.sleep(0.01)
threading.Thread(target=look, daemon=True).start()
start = time.perf_counter()
run["model/best"].upload(sys.argv[1])
called = time.perf_counter() - start
worst = 0.0
for step in range(200):
    at = time.perf_counter()
    run["train/loss"].append(1.0)
    worst = max(worst, time.perf_counter() - at)
    time.sleep(0.002)
run.finish(timeout=3600)
took = time.perf_counter() - start
is_over = True
print(json.dumps({"call": called, "seconds": took, "worst": worst, "growth": peak - before}))
"""


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--mib", type=int, default=1024)
    mib = options.parse_args().mib
    with tempfile.TemporaryDirectory(prefix="seamark-files-") as folder:
        measure(Path(folder), mib)
    return 0


def measure(home: Path, mib: int) -> None:
    file, digest = random_file(home / "best.pt", mib)
    os.environ.update(
        SEAMARK_CONFIG=str(home / "agent.json"), SEAMARK_SPOOL=str(home / "spool")
    )
    with EmbeddedServer(home / "data", free_port()) as server:
        settings = json.loads((home / "agent.json").read_text())
        web = web_process()
        get(f"{settings['url']}/api/v1/limits", settings["token"])

        with watched(web) as growth:
            found = upload(file, {**os.environ, "PYTHONPATH": str(Path.cwd())})
        say("the call took", f"{found['call'] * 1e3:.2f} ms")
        say("slowest append meanwhile", f"{found['worst'] * 1e3:.2f} ms")
        say("up, copy and check included", f"{mib / found['seconds']:,.0f} MiB/s")
        say("agent's memory grew by", f"{found['growth'] / MIB:,.1f} MiB")
        say("server's memory grew by", f"{growth() / MIB:,.1f} MiB")

        settings["token"] = full_token(home / "data")
        address = content_address(server.url, settings["token"])
        with watched(web) as growth:
            seconds, total = read(address, settings["token"])
        assert total == digest
        say("down", f"{mib / seconds:,.0f} MiB/s")
        say("server's memory grew by", f"{growth() / MIB:,.1f} MiB")

        archive = address.replace("/content?", "/archive?").split("?")[0]
        with watched(web) as growth:
            seconds, _ = read(archive, settings["token"])
        say("down as a ZIP", f"{mib / seconds:,.0f} MiB/s")
        say("server's memory grew by", f"{growth() / MIB:,.1f} MiB")

        with (
            watched(web) as growth,
            slow_readers(address, settings["token"]) as answers,
        ):
            time.sleep(5)
            pages = [timed_page(settings) for _ in range(20)]
        say(f"{SLOW_READERS} slow readers were answered", ", ".join(map(str, answers)))
        say("a page meanwhile, at worst", f"{max(pages) * 1e3:,.0f} ms")
        say("server's memory grew by", f"{growth() / MIB:,.1f} MiB")


def random_file(path: Path, mib: int) -> tuple[Path, str]:
    total = hashlib.sha256()
    with path.open("wb") as file:
        for _ in range(mib):
            data = os.urandom(MIB)
            total.update(data)
            file.write(data)
    return path, total.hexdigest()


def web_process() -> psutil.Process:
    """Return the process that answers: granian's worker."""
    for process in psutil.Process().children(recursive=True):
        line = " ".join(process.cmdline())
        if "granian" in line and process.children():
            return process.children()[0]
    raise SystemExit("There is no web process.")


def upload(file: Path, environment: dict[str, str]) -> dict[str, float]:
    answer = subprocess.run(
        [sys.executable, "-c", UPLOAD, str(file)],
        env=environment,
        check=True,
        capture_output=True,
        text=True,
    )
    sys.stderr.write(answer.stderr)
    found: dict[str, float] = json.loads(answer.stdout)
    return found


def full_token(data: Path) -> str:
    """Return a token that may read, too."""
    environment = {
        **os.environ,
        "SEAMARK_DATA": str(data),
        "DJANGO_SETTINGS_MODULE": "tracker.settings",
    }
    command = [sys.executable, "-c", MAKE_TOKEN]
    return subprocess.check_output(command, env=environment, text=True).strip()


def content_address(url: str, token: str) -> str:
    project = get(f"{url}/api/v1/projects", token)["projects"][0]
    place = f"{url}/api/v1/projects/{project['workspace']}/{project['slug']}/runs"
    run = get(place, token)["runs"][0]["id"]
    return f"{url}/api/v1/runs/{run}/files/content?path=model/best"


def get(address: str, token: str) -> dict:  # type: ignore[type-arg] # JSON
    with opened(address, token) as answer:
        found: dict = json.loads(answer.read())  # type: ignore[type-arg]
    return found


def opened(address: str, token: str):  # type: ignore[no-untyped-def] # urllib's own
    asked = urllib.request.Request(
        address, headers={"Authorization": f"Bearer {token}"}
    )
    return urllib.request.urlopen(asked, timeout=60)


def read(address: str, token: str) -> tuple[float, str]:
    total = hashlib.sha256()
    start = time.perf_counter()
    with opened(address, token) as answer:
        while data := answer.read(MIB):
            total.update(data)
    return time.perf_counter() - start, total.hexdigest()


def timed_page(settings: dict[str, str]) -> float:
    start = time.perf_counter()
    get(f"{settings['url']}/api/v1/me", settings["token"])
    return time.perf_counter() - start


@contextmanager
def watched(process: psutil.Process) -> Iterator[Callable[[], int]]:
    """Yield a function that returns the peak growth of a process's memory."""
    before = peak = process.memory_info().rss
    is_over = threading.Event()

    def look() -> None:
        nonlocal peak
        while not is_over.wait(LOOK_SECONDS):
            peak = max(peak, process.memory_info().rss)

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield lambda: peak - before
    finally:
        is_over.set()
        thread.join()


@contextmanager
def slow_readers(address: str, token: str) -> Iterator[list[int]]:
    """Have some read a little at a time, each in a thread of its own."""
    answers: list[int] = []
    is_over = threading.Event()

    def read_slowly() -> None:
        try:
            with opened(address, token) as answer:
                answers.append(answer.status)
                while answer.read(SLOW_BYTES_PER_SECOND // 10) and not is_over.wait(
                    0.1
                ):
                    pass
        except urllib.error.HTTPError as error:
            answers.append(error.code)

    threads = [threading.Thread(target=read_slowly) for _ in range(SLOW_READERS)]
    for thread in threads:
        thread.start()
    try:
        yield answers
    finally:
        is_over.set()
        for thread in threads:
            thread.join()


def say(what: str, found: str) -> None:
    sys.stdout.write(f"{what:32} {found}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
