"""Training scripts in their own processes, with the data folder of a test."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.agent.tracker_double import TOKEN, TrackerDouble
from tracker.server.processes import ROOT

# A watchdog, not a specification.
LONGEST_SECONDS = 300.0
# In its own mount namespace a script may mount file systems that vanish with it.
AS_ROOT = ("unshare", "--mount")


class Place:
    """A separate folder, with the server that its scripts log to."""

    def __init__(self, folder: Path, url: str, **variables: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("SEAMARK_", "XDG_", "SLURM_"))
            and not name.lower().endswith("_proxy")
        }
        self.environment = {
            **kept,
            "HOME": str(folder),
            # Packages may be in folders that only the caller's path contains.
            "PYTHONPATH": os.pathsep.join([str(ROOT), *_inherited_path()]),
            "SEAMARK_URL": url,
            "SEAMARK_TOKEN": TOKEN,
            **variables,
        }

    def start(
        self,
        script: str,
        *arguments: str,
        before: Sequence[str] = (),
        python: str = sys.executable,
        **more: str,
    ) -> subprocess.Popen[str]:
        """Start a script; its output is kept for `answer_of`."""
        path = self.folder / "script.py"
        if not path.exists() or path.read_text() != script:
            path = self.folder / f"script{time.monotonic_ns()}.py"
            path.write_text(script)
        return subprocess.Popen(
            [*before, python, str(path), *arguments],
            env={**self.environment, **more},
            cwd=self.folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def perform(
        self,
        script: str,
        *arguments: str,
        before: Sequence[str] = (),
        python: str = sys.executable,
        **more: str,
    ) -> subprocess.CompletedProcess[str]:
        """Run a script to its end, or kill it where it hangs."""
        process = self.start(script, *arguments, before=before, python=python, **more)
        try:
            output, complained = process.communicate(timeout=LONGEST_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            output, complained = process.communicate()
        return subprocess.CompletedProcess(
            process.args, process.returncode, output, complained
        )

    def sync(self) -> subprocess.CompletedProcess[str]:
        """Deliver orphaned queues."""
        return subprocess.run(
            [sys.executable, "-m", "seamark", "sync"],
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=LONGEST_SECONDS,
            check=False,
        )


def _inherited_path() -> list[str]:
    return [one for one in os.environ.get("PYTHONPATH", "").split(os.pathsep) if one]


# Any: JSON.
def answer_of(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """Return the last line of a script's output."""
    if not done.stdout.strip():
        raise RuntimeError(f"it said nothing: {done.returncode} {done.stderr[-2000:]}")
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


def stored_points(tracker: TrackerDouble) -> int:
    return sum(
        len(message["paths"]) * (len(message["steps"]) // 8)
        for message in tracker.of_kind("points")
    )


def dropped_points(tracker: TrackerDouble) -> int:
    return sum(message["points"] for message in tracker.of_kind("drop"))


def lost_and_doubled(
    tracker: TrackerDouble, expected: Mapping[str, int]
) -> tuple[int, int]:
    """Compare steps 0, 1, 2, … of each path with the tracker's."""
    lost = doubled = 0
    for path, count in expected.items():
        found = Counter(tracker.steps(path))
        lost += sum(1 for step in range(count) if step not in found)
        doubled += sum(times - 1 for times in found.values())
    return lost, doubled


def end_after(process: subprocess.Popen[str], seconds: float) -> threading.Timer:
    """Kill a process that hangs, after so long."""
    timer = threading.Timer(seconds, process.kill)
    timer.start()
    return timer


def eventually(condition: Callable[[], object], seconds: float = 60.0) -> None:
    """Wait until a condition holds; the timeout is a watchdog, not a specification."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.01)
