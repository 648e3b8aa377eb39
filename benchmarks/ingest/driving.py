"""Runs one system through the jobs that come on its standard input, a line each.

Each answer is one line of JSON. Runs in the peer's own environment, so it needs only
the standard library.
"""

from __future__ import annotations

import json
import os
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import count, islice
from pathlib import Path
from typing import IO, Any

from benchmarks.ingest.calibration import next_blocks
from benchmarks.ingest.system import DATA, System
from benchmarks.ingest.workload import blocks, metric_names
from tracker.embedded.parent import die_with

READABLE_SECONDS = 120.0
# A client that takes longer has failed; the others continue.
LOG_SECONDS = 300.0
LOOK_SECONDS = 0.02
SHARED_METRICS = 20
WARM_UP_STEPS = 100

AnySystem = System[Any]
Job = dict[str, Any]
_numbers = count(1)


def drive(kinds: Mapping[str, type[AnySystem]]) -> None:
    """Be a driver, or one of the processes that log for it.

    Arguments: the variant of the system, and `drive <folder>` or `log <job>`.
    """
    module = sys.modules["__main__"].__spec__
    assert module is not None
    variant, role, argument = sys.argv[1:]
    kind = kinds[variant]
    # The systems' output must not mix with the answers.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    if role == "log":
        log(kind, json.loads(argument), answers)
        return
    command = [sys.executable, "-m", module.name, variant, "log"]
    driver = Driver(kind, command, Path(argument))
    for line in sys.stdin:
        try:
            answer = driver.do(json.loads(line))
        except Exception as error:  # noqa: BLE001 - any fault of a peer is a row that says so
            answer = {"error": reason(error)}
        print(json.dumps(answer), file=answers, flush=True)


def reason(error: Exception) -> str:
    # Our own errors have complete messages.
    if type(error) is RuntimeError:
        return str(error)
    return f"{type(error).__name__}: {error}"


class Driver:
    """Does the jobs of one system, each in a new folder."""

    def __init__(self, kind: type[AnySystem], log: list[str], folder: Path) -> None:
        self._kind = kind
        self._log = log  # the command of a process that logs
        self._folder = folder

    def do(self, job: Job) -> Job:
        jobs: dict[str, Callable[..., Job]] = {
            "describe": self.describe,
            "ingest": self.ingest,
        }
        return jobs[job.pop("do")](**job)

    def describe(self) -> Job:
        return {
            "release": self._kind.release,
            "writing": self._kind.writing,
            "reading": self._kind.reading,
        }

    def ingest(
        self,
        *,
        clients: int,
        metrics: int,
        steps: int,
        seconds: float,
        most_points: int,
    ) -> Job:
        """Log an increasing amount until the duration is measurable."""
        most = max(1, most_points // (clients * metrics * steps))
        sent = 1
        with self._new_system() as system:
            # The first requests of a server are not like the others.
            self._ingest(system, clients, SHARED_METRICS, WARM_UP_STEPS, 1)
            while True:
                outcome = self._ingest(system, clients, metrics, steps, sent)
                more = next_blocks(sent, outcome["seconds"], seconds, most)
                if more is None:
                    return outcome
                sent = more

    def _ingest(
        self, system: AnySystem, clients: int, metrics: int, steps: int, sent: int
    ) -> Job:
        runs = [f"run-{next(_numbers)}" for _ in range(clients)]
        loggers = [
            self._logger(
                system,
                run=run,
                metrics=metrics,
                steps=steps,
                blocks=sent,
                seed=number,
            )
            for number, run in enumerate(runs)
        ]
        for logger in loggers:
            logger.wait_until_ready()
        for logger in loggers:
            logger.go()
        began = min(logger.answer()["began"] for logger in loggers)
        expected = metrics * steps * sent
        wait_until_readable(system, dict.fromkeys(runs, expected), metrics)
        ended = time.monotonic()
        for logger in loggers:
            logger.end()
        return {"points": clients * expected, "seconds": ended - began}

    def _logger(self, system: AnySystem, **job: object) -> Logger:
        job |= {"folder": str(system.folder), "address": system.address}
        return Logger(self._log, job, self._folder / "logger.log")

    @contextmanager
    def _new_system(self) -> Iterator[AnySystem]:
        system = self._kind(self._new_folder())
        try:
            system.start()
            yield system
        finally:
            system.stop()
            system.remove()
            shutil.rmtree(system.folder, ignore_errors=True)

    def _new_folder(self) -> Path:
        folder = self._folder / f"data-{next(_numbers)}"
        (folder / DATA).mkdir(parents=True)
        return folder


class Logger:
    """A process that logs, as the driver sees it."""

    def __init__(self, command: list[str], job: Job, log_file: Path) -> None:
        self._log_file = log_file
        parent_id = os.getpid()
        with log_file.open("ab") as errors:
            self._process = subprocess.Popen(
                [*command, json.dumps(job)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                preexec_fn=lambda: die_with(parent_id),  # noqa: PLW1509 - no threads yet
            )

    def wait_until_ready(self) -> None:
        self._line()

    def go(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write("go\n")
        self._process.stdin.flush()

    def answer(self) -> Job:
        answer: Job = json.loads(self._line())
        return answer

    def end(self) -> None:
        self._process.communicate()

    def _line(self) -> str:
        assert self._process.stdout is not None
        if not select.select([self._process.stdout], [], [], LOG_SECONDS)[0]:
            self._process.kill()
            raise RuntimeError(f"Logging was not done in {LOG_SECONDS:g} s.")
        line = self._process.stdout.readline()
        if not line:
            self._process.communicate()
            words = self._log_file.read_text(errors="replace").strip().splitlines()
            raise RuntimeError(words[-1] if words else "A process that logs ended.")
        return line


def log(kind: type[AnySystem], job: Job, answers: IO[str]) -> None:
    """Log the job's data, like one training process."""
    system = kind(Path(job["folder"]), job["address"])
    made = blocks(metrics=job["metrics"], steps=job["steps"], seed=job["seed"])
    system.open(job["run"])
    prepared = [system.prepare(block) for block in islice(made, job["blocks"])]
    began = _started(answers)
    for one in prepared:
        system.send(one)
    system.close()
    print(json.dumps({"began": began}), file=answers, flush=True)
    # Ending takes a processor, too, which reading back needs now.
    sys.stdin.read()


def _started(answers: IO[str]) -> float:
    print("ready", file=answers, flush=True)
    sys.stdin.readline()
    return time.monotonic()


def wait_until_readable(
    system: AnySystem, expected: dict[str, int], metrics: int
) -> None:
    """Read every run until all points that were sent are there."""
    names = metric_names(metrics)
    deadline = time.monotonic() + READABLE_SECONDS
    for run, points in expected.items():
        while (found := system.count(run, names)) != points:
            if found > points or time.monotonic() > deadline:
                raise RuntimeError(f"{found} of {points} points were read back.")
            time.sleep(LOOK_SECONDS)
