"""Runs the example pipeline four times, each time with one thing changed.

    python examples/ladder.py --images /tmp/digits

Every run is logged to the tracker that the agent finds by itself, and at the end the
four become a ladder; for that the token in SEAMARK_TOKEN must be of scope full, as
the demo's is. Prints the address of the ladder's page as its last line.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from seamark.servers import find_server

HERE = Path(__file__).parent
PROJECT = "digits"
LADDER = "JPEG digits"


@dataclass(frozen=True)
class Rung:
    run: str
    note: str
    preprocess: Sequence[str] = ()
    train: Sequence[str] = field(default_factory=tuple)


WORKERS = str(max(2, min(4, (os.cpu_count() or 2) - 1)))
RUNGS = [
    Rung("baseline", "JPEG files are decoded and augmented in the training process"),
    Rung(
        "decoded-ahead",
        "The preprocessing stage decodes each image once, for all epochs",
        preprocess=["--decode-ahead"],
        train=["--decoded"],
    ),
    Rung(
        "loader-workers",
        f"{WORKERS} loader processes augment while training computes",
        preprocess=["--decode-ahead"],
        train=["--decoded", "--workers", WORKERS],
    ),
    Rung(
        "larger-batch",
        "Mini-batches of 64 instead of 16",
        preprocess=["--decode-ahead"],
        train=["--decoded", "--workers", WORKERS, "--batch-size", "64"],
    ),
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=Path, help="image folder; default: a new one")
    parser.add_argument("--epochs", type=int, default=8)
    options = parser.parse_args()

    tracker = Tracker()
    suffix = tracker.free_suffix()
    with tempfile.TemporaryDirectory(prefix="seamark-digits-") as scratch:
        images = options.images or Path(scratch)
        for number, rung in enumerate(RUNGS, start=1):
            say(f"Run {number} of {len(RUNGS)}: {rung.run}{suffix}. {rung.note}.")
            climb(rung, run=rung.run + suffix, images=images, epochs=options.epochs)
            # From the second run on, the ladder compares runs, also while one is running.
            tracker.put_ladder(RUNGS[:number], suffix)
    say(tracker.put_ladder(RUNGS, suffix))


def climb(rung: Rung, *, run: str, images: Path, epochs: int) -> None:
    common = ["--run", run, "--project", PROJECT, "--images", str(images)]
    stages: list[tuple[str, Sequence[str]]] = [
        ("preprocess", rung.preprocess),
        ("train", [*rung.train, "--epochs", str(epochs)]),
        ("infer", ()),
    ]
    for stage, arguments in stages:
        started = time.monotonic()
        script = str(HERE / f"{stage}.py")
        command = [sys.executable, script, *common, *arguments]
        if code := subprocess.run(command, check=False).returncode:
            raise SystemExit(f"{stage}.py ended with code {code}.")
        say(f"    {stage:<12}{time.monotonic() - started:5.1f} s")


def say(line: str) -> None:
    print(line, flush=True)


class Tracker:
    """The few calls of the API that a ladder needs."""

    def __init__(self) -> None:
        server = find_server(os.environ)
        if server is None:
            raise SystemExit("No tracker is known here: run python3 manage.py up.")
        self._url, self._token = server.url, server.token
        self._workspace = self._call("GET", "/me")["workspaces"][0]["slug"]

    def free_suffix(self) -> str:
        """Return what makes this ladder's names new: nothing, -2, -3, …"""
        projects = self._call("GET", "/projects")["projects"]
        if all(project["slug"] != PROJECT for project in projects):
            return ""
        project = f"/projects/{self._workspace}/{PROJECT}"
        ladders = self._call("GET", f"{project}/ladders")["ladders"]
        found = self._call("GET", f"{project}/runs?search={RUNGS[0].run}")["runs"]
        # An earlier start may have ended before its ladder was made.
        taken = {each["name"] for each in (*ladders, *found)}
        number = 1
        while True:
            suffix = f"-{number}" if number > 1 else ""
            if taken.isdisjoint({LADDER + suffix, RUNGS[0].run + suffix}):
                return suffix
            number += 1

    def put_ladder(self, rungs: Sequence[Rung], suffix: str) -> str:
        """Make the ladder, or bring it up to date; return its page's address."""
        ladder = self._call(
            "POST",
            f"/projects/{self._workspace}/{PROJECT}/ladders",
            {
                "name": LADDER + suffix,
                "rungs": [
                    {"run": rung.run + suffix, "note": rung.note} for rung in rungs
                ],
            },
        )
        return f"{self._url}/ladders/{ladder['id']}/"

    # The answers are JSON; each caller knows which part it needs.
    def _call(self, method: str, path: str, body: object = None) -> Any:
        request = urllib.request.Request(
            f"{self._url}/api/v1{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={
                "Authorization": f"Bearer {self._token}",
                "Content-Type": "application/json",
            },
        )
        with urllib.request.urlopen(request, timeout=30) as response:
            return json.load(response)


if __name__ == "__main__":
    main()
