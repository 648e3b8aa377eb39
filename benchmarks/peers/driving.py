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
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import count, islice
from pathlib import Path
from typing import IO, Any

from benchmarks.peers.calibration import next_blocks
from benchmarks.peers.spikes import shown, spikes
from benchmarks.peers.system import DATA, System
from benchmarks.peers.workload import LOSS, NOTHING, blocks, metric_names
from tracker.embedded.parent import die_with

READABLE_SECONDS = 120.0
# A client this long overdue has failed; the others continue.
PATIENCE_SECONDS = 120.0
LOOK_SECONDS = 0.02
# Steps of a block when only stored points matter, not how fast they come.
LOAD_STEPS = 1_000
LONG_LOAD_STEPS = 10_000
LONG = 100_000
SHARED_METRICS = 20
WARM_UP_STEPS = 100
# Requests per chart, fewer if they are slow.
CHART_REPEATS = 50
CHART_SECONDS = 20.0

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
    driver.forget()


def reason(error: Exception) -> str:
    # Our own errors have complete messages.
    if type(error) is RuntimeError:
        return str(error)
    return f"{type(error).__name__}: {error}"


def _timed(chart: Callable[[], bytes]) -> tuple[float, bytes]:
    """Return in how many seconds a chart was answered, and the answer."""
    began = time.monotonic()
    answer = chart()
    return time.monotonic() - began, answer


class Driver:
    """Does the jobs of one system, each in a new folder."""

    def __init__(self, kind: type[AnySystem], log: list[str], folder: Path) -> None:
        self._kind = kind
        self._log = log  # the command of a process that logs
        self._folder = folder
        # The system with the data of charts.
        self._loaded: AnySystem | None = None
        # Outliers in that data, of all runs.
        self._spikes: list[float] = []

    def do(self, job: Job) -> Job:
        jobs: dict[str, Callable[..., Job]] = {
            "describe": self.describe,
            "ingest": self.ingest,
            "disk": self.disk,
            "load": self.load,
            "chart": self.chart,
        }
        return jobs[job.pop("do")](**job)

    def describe(self) -> Job:
        return {
            "release": self._kind.release,
            "writing": self._kind.writing,
            "reading": self._kind.reading if self._kind.is_readable else "",
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

    def disk(
        self, *, kind: str, runs: int, metrics: int, steps: int, seconds: float
    ) -> Job:
        """Log runs, each settled before the next, as in daily use."""
        with self._new_system() as system:
            system.settle()
            before = system.stored_bytes()
            points = 0
            deadline = time.monotonic() + seconds
            for number in range(runs):
                left = max(1.0, deadline - time.monotonic()) / (runs - number)
                steps = self._log_alone(
                    system,
                    runs=[f"disk-{number}"],
                    metrics=metrics,
                    steps=steps,
                    seconds=left,
                    kind=kind,
                    seed=number,
                )
                points += metrics * steps
                system.settle()
            return {
                "points": points,
                "bytes": system.stored_bytes() - before,
                "free": system.free_bytes(),
            }

    def load(self, *, runs: int, points: int, seconds: float) -> Job:
        """Log the data of charts, within the time limit."""
        self.forget()
        system = self._loaded = self._kind(self._new_folder())
        system.start()
        names = [f"chart-{number}" for number in range(runs)]
        planted = [spikes(points, number) for number in range(runs)]
        reached = self._log_alone(
            system,
            runs=names,
            metrics=1,
            steps=points,
            seconds=seconds,
            kind=LOSS,
            planted=planted,
        )
        self._spikes = [
            value
            for of_run in planted
            for step, value in of_run.items()
            if step < reached
        ]
        system.settle()
        if system.is_readable:
            wait_until_readable(system, dict.fromkeys(names, reached), 1)
        system.stop()
        return {"runs": runs, "points": reached}

    def chart(self, *, runs: int) -> Job:
        """Draw with a server that has just started, and again."""
        system = self._loaded
        if system is None:
            raise RuntimeError("Nothing was loaded.")
        if not system.is_readable:
            raise RuntimeError("It draws nothing.")
        names = [f"chart-{number}" for number in range(runs)]
        chart = partial(system.chart, names, metric_names(1)[0])
        another = partial(system.another_chart, names, metric_names(1)[0])
        system.start()
        try:
            first, answer = _timed(chart)
            spent: dict[str, list[float]] = {"another": [], "again": []}
            # A server's threads each have a first answer, so there are some more.
            for number in range(CHART_REPEATS):
                spent["another"].append(_timed(partial(another, number))[0])
                spent["again"].append(_timed(chart)[0])
                if sum(map(sum, spent.values())) > CHART_SECONDS:
                    break
        finally:
            system.stop()
        return {
            "first": first,
            **spent,
            "bytes": len(answer),
            "spikes": len(self._spikes),
            "shown": shown(answer, self._spikes),
        }

    def forget(self) -> None:
        """Delete the loaded data."""
        if self._loaded is not None:
            self._loaded.remove()
            shutil.rmtree(self._loaded.folder, ignore_errors=True)
            self._loaded = None

    def _ingest(
        self, system: AnySystem, clients: int, metrics: int, steps: int, sent: int
    ) -> Job:
        runs = [f"run-{next(_numbers)}" for _ in range(clients)]
        loggers = [
            self._logger(
                system,
                {"runs": [run], "metrics": metrics, "steps": steps, "blocks": sent}
                | {"seed": number, "is_prepared": True},
                seconds=0.0,
            )
            for number, run in enumerate(runs)
        ]
        for logger in loggers:
            logger.wait_until_ready()
        before = system.server_seconds()
        for logger in loggers:
            logger.go()
        told = [logger.answer() for logger in loggers]
        after = system.server_seconds()
        expected = metrics * steps * sent
        ended = max(one["ended"] for one in told)
        if system.is_readable:
            wait_until_readable(system, dict.fromkeys(runs, expected), metrics)
            ended = time.monotonic()
        for logger in loggers:
            logger.end()
        began = min(one["began"] for one in told)
        written = max(one["ended"] for one in told) - began
        return {
            "points": clients * expected,
            "seconds": ended - began,
            "written_seconds": written,
            "batch_seconds": (
                None
                if before is None or after is None
                else (after - before) / (clients * sent)
            ),
        }

    def _log_alone(
        self,
        system: AnySystem,
        *,
        runs: list[str],
        metrics: int,
        steps: int,
        seconds: float,
        kind: str,
        seed: int = 0,
        planted: Sequence[Mapping[int, float]] = (),
    ) -> int:
        """Log runs one after the other; return how many steps each got."""
        size = min(LOAD_STEPS if steps <= LONG else LONG_LOAD_STEPS, steps)
        job = {"runs": runs, "metrics": metrics, "steps": size, "kind": kind}
        job |= {"blocks": steps // size, "seed": seed, "seconds": seconds / len(runs)}
        # JSON has only strings as keys.
        job["planted"] = [[*of_run.items()] for of_run in planted]
        logger = self._logger(system, job, seconds)
        logger.wait_until_ready()
        logger.go()
        reached: int = logger.answer()["blocks"]
        logger.end()
        return reached * size

    def _logger(self, system: AnySystem, job: Job, seconds: float) -> Logger:
        job |= {"folder": str(system.folder), "address": system.address}
        return Logger(self._log, job, self._folder / "logger.log", seconds=seconds)

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

    def __init__(
        self, command: list[str], job: Job, log_file: Path, *, seconds: float
    ) -> None:
        """The process is given up some time after the seconds that it should take."""
        self._log_file = log_file
        self._most_seconds = seconds + PATIENCE_SECONDS
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
        told: Job = json.loads(self._line())
        return told

    def end(self) -> None:
        self._process.communicate()

    def _line(self) -> str:
        assert self._process.stdout is not None
        if not select.select([self._process.stdout], [], [], self._most_seconds)[0]:
            self._process.kill()
            raise RuntimeError(f"Logging was not done in {self._most_seconds:g} s.")
        line = self._process.stdout.readline()
        if not line:
            self._process.communicate()
            words = self._log_file.read_text(errors="replace").strip().splitlines()
            raise RuntimeError(words[-1] if words else "A process that logs ended.")
        return line


def log(kind: type[AnySystem], job: Job, answers: IO[str]) -> None:
    """Log the job's data, like one training process or several in sequence."""
    system = kind(Path(job["folder"]), job["address"])
    wanted = islice(
        blocks(
            metrics=job["metrics"],
            steps=job["steps"],
            kind=job.get("kind", LOSS),
            seed=job["seed"],
        ),
        job["blocks"],
    )
    if job.get("is_prepared"):
        [run] = job["runs"]
        system.open(run)
        prepared = [system.prepare(block) for block in wanted]
        began = _started(answers)
        for one in prepared:
            system.send(one)
        system.close()
        told = {"blocks": len(prepared), "began": began, "ended": time.monotonic()}
    else:
        _started(answers)
        told = {"blocks": _log_in_time(system, job)}
    print(json.dumps(told), file=answers, flush=True)
    # Ending takes a processor, too, which reading back needs now.
    sys.stdin.read()


def _started(answers: IO[str]) -> float:
    print("ready", file=answers, flush=True)
    sys.stdin.readline()
    return time.monotonic()


def _log_in_time(system: AnySystem, job: Job) -> int:
    """Log as many blocks as the time allows to the first run, then to each other."""
    most: int = job["blocks"]
    for index, run in enumerate(job["runs"]):
        deadline = time.monotonic() + job["seconds"]
        system.open(run)
        made = blocks(
            metrics=job["metrics"],
            steps=job["steps"],
            kind=job["kind"],
            seed=job["seed"] + index,
            planted=dict(job["planted"][index]) if job["planted"] else NOTHING,
        )
        sent = 0
        for block in islice(made, most):
            system.send(system.prepare(block))
            sent += 1
            if index == 0 and time.monotonic() > deadline:
                break
        system.close()
        most = sent
    return most


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
