"""The measured systems and situations, and the processes that measure them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.ingest.environments import NotInstalled, prepared_python
from benchmarks.sdk.outcome import Outcome
from tracker.embedded.parent import die_with
from tracker.server.processes import ROOT

# A slow system logs fewer steps, with a note on the page.
LOG_SECONDS = 60.0
# Longer processes are stopped, with a note in the row.
JOB_SECONDS = 240.0
ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
FOREIGN = ("SEAMARK_", "DJANGO_", "MLFLOW_", "WANDB_", "TRACKIO_")


@dataclass(frozen=True, slots=True)
class Entrant:
    """One row of the tables."""

    key: str
    label: str
    module: str
    # Its own environment; without one it runs in that of the command.
    environment: str = ""
    # Factor of additional steps in the flood.
    times: int = 1


OURS, NOTHING = "Seamark", "nothing"
ENTRANTS = (
    # The goals refer to these, the memory goal at a million points.
    Entrant("nothing", NOTHING, "nothing", times=5),
    Entrant("seamark", OURS, "seamark", times=5),
    Entrant("wandb", "wandb, offline", "wandb", "wandb"),
    Entrant("trackio", "trackio", "trackio", "trackio"),
    Entrant("mlflow", "MLflow", "mlflow", "mlflow"),
    Entrant("tensorboard", "TensorBoard", "tensorboard", "tensorboard"),
)


@dataclass(frozen=True, slots=True)
class Situation:
    """Logging pattern of a loop: metrics per step, and the work between steps."""

    key: str
    label: str
    width: int
    most_steps: int
    pause: float = 0.0
    period: float = 0.0
    compute: float = 0.0


ONE, TWENTY, FLOOD = "1", "20", "flood"
ONE_AT_ONCE = "1-no-pause"
EACH_10_MS, COMPUTING = "20-each-10-ms", "20-computing"
SITUATIONS = (
    Situation(ONE, "1 metric, 1 ms apart", 1, 3_000, pause=0.001),
    Situation(TWENTY, "20 metrics, 1 ms apart", 20, 3_000, pause=0.001),
    Situation("1000", "1,000 metrics, 1 ms apart", 1_000, 500, pause=0.001),
    Situation(EACH_10_MS, "20 metrics each 10 ms", 20, 1_000, period=0.01),
    Situation(
        COMPUTING, "20 metrics, after 10 ms of computing", 20, 1_000, compute=0.01
    ),
    Situation(ONE_AT_ONCE, "1 metric, no pause", 1, sys.maxsize),
    Situation(FLOOD, "20 metrics, no pause", 20, sys.maxsize),
)
# Makes the tracker's files and Python's own, which everyday runs find there.
FIRST = Situation("first", "first run", 20, 20)


class Broke(Exception):
    """A measuring process failed; the message has the reason."""


@dataclass(slots=True)
class Result:
    """Results of each situation, or the error."""

    label: str
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    error: str = ""


def steps_of(entrant: Entrant, situation: Situation, steps: int) -> int:
    """Return the number of steps of an entrant, for this size of the flood."""
    wanted = steps * entrant.times if situation.key == FLOOD else steps
    return min(wanted, situation.most_steps)


def measure(
    entrant: Entrant, steps: int, *, scratch: Path, environments: Path
) -> Result:
    """Measure all situations, each in a new process; stop at the first failure."""
    result = Result(entrant.label)
    folder = scratch / entrant.key
    folder.mkdir()
    label = "installing"
    try:
        python = (
            prepared_python(entrant.environment, environments)
            if entrant.environment
            else sys.executable
        )
        for situation in (FIRST, *SITUATIONS):
            label = situation.label
            outcome = _outcome(entrant, python, situation, steps, folder)
            if situation is not FIRST:
                result.outcomes[situation.key] = outcome
    except (NotInstalled, Broke) as error:
        result.error = f"{label}: {error}"
    return result


def _outcome(
    entrant: Entrant, python: str, situation: Situation, steps: int, folder: Path
) -> Outcome:
    job = {
        "run": f"run-{situation.key}",
        "folder": str(folder),
        "width": situation.width,
        "steps": steps_of(entrant, situation, steps),
        "pause": situation.pause,
        "period": situation.period,
        "compute": situation.compute,
        "seconds": LOG_SECONDS,
    }
    parent_id = os.getpid()
    log = folder.with_suffix(".log")
    with log.open("wb") as words:
        process = subprocess.Popen(
            [
                *(python, "-m", "benchmarks.sdk.measure"),
                *(entrant.module, json.dumps(job)),
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=words,
            text=True,
            cwd=ROOT,
            env=dict(_environment(folder)),
            start_new_session=True,
            preexec_fn=lambda: die_with(parent_id),  # noqa: PLW1509 - no threads yet
        )
    try:
        answer, _ = process.communicate(timeout=JOB_SECONDS)
    except subprocess.TimeoutExpired as error:
        raise Broke(f"not done after {JOB_SECONDS:.0f} s") from error
    finally:
        # The rest of its process group.
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
    if not answer:
        raise Broke(_last_line(log) or f"its process ended with {process.returncode}")
    return Outcome(**json.loads(answer))


def _environment(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield variables that override the user's settings of where data is sent."""
    settings: Mapping[str, str] = {
        "HOME": str(folder),
        "XDG_CONFIG_HOME": str(folder / "config"),
        "TMPDIR": str(folder),
        "DO_NOT_TRACK": "true",
        # A step that computes does so in the thread that logs.
        **dict.fromkeys(ONE_THREAD, "1"),
    }
    for name, value in os.environ.items():
        if name not in settings and not name.startswith(FOREIGN):
            yield name, value
    yield from settings.items()


def _last_line(log: Path) -> str:
    lines = log.read_text(errors="replace").strip().splitlines()
    return lines[-1] if lines else ""
