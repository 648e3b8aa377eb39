"""The measured systems, and the protocol with each one's driver."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.ingest.environments import prepared_python
from tracker.embedded.parent import die_with
from tracker.server.processes import ROOT

# Longer jobs are stopped, with a note in the row.
JOB_SECONDS = 900.0
# A driver that is in the midst of a job is not waited for longer.
STOP_SECONDS = 5.0

Answer = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Entrant:
    """One row of the tables: a system in one of its variants."""

    key: str
    label: str
    module: str
    variant: str
    # Its own environment; without one it runs in that of the command.
    environment: str = ""


ENTRANTS = (
    Entrant("seamark-sqlite", "Seamark, SQLite", "seamark", "sqlite"),
    Entrant("seamark-postgresql", "Seamark, PostgreSQL", "seamark", "postgresql"),
    Entrant("trackio", "trackio, local", "trackio", "local", "trackio"),
    Entrant("tensorboard", "TensorBoard, local", "tensorboard", "local", "tensorboard"),
)


class Driver:
    """An entrant's driver; a process that does one job at a time."""

    def __init__(self, entrant: Entrant, scratch: Path, environments: Path) -> None:
        self.entrant = entrant
        self._folder = scratch / entrant.key
        self._environments = environments
        self._process: subprocess.Popen[str] | None = None

    def ask(self, job: str, **arguments: object) -> Answer:
        """Return the answer; for an error `{"error": reason}`."""
        try:
            self.start()
            return self._answer({"do": job, **arguments})
        except Exception as error:  # noqa: BLE001 - any fault of a peer is a row that says so
            self.stop()
            return {"error": str(error)}

    def start(self) -> subprocess.Popen[str]:
        """Start the driver, unless it runs."""
        if self._process is None:
            self._process = self._start()
        return self._process

    def stop(self) -> None:
        if self._process is None:
            return
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):
            self._process.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(STOP_SECONDS)
        # The rest of its process group; servers end with the driver.
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()
        self._process = None

    def _start(self) -> subprocess.Popen[str]:
        entrant = self.entrant
        python = (
            prepared_python(entrant.environment, self._environments)
            if entrant.environment
            else sys.executable
        )
        self._folder.mkdir(parents=True, exist_ok=True)
        parent_id = os.getpid()
        with (self._folder / "driver.log").open("ab") as log:
            return subprocess.Popen(
                [
                    *(python, "-m", f"benchmarks.ingest.{entrant.module}"),
                    *(entrant.variant, "drive", str(self._folder)),
                ],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                cwd=ROOT,
                # Override the user's settings of where data is sent.
                env=_environment(self._folder),
                start_new_session=True,
                preexec_fn=lambda: die_with(parent_id),  # noqa: PLW1509 - no threads yet
            )

    def _answer(self, job: Answer) -> Answer:
        assert self._process is not None
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        # If it has ended, the missing answer shows that.
        with suppress(BrokenPipeError):
            self._process.stdin.write(json.dumps(job) + "\n")
            self._process.stdin.flush()
        if not select.select([self._process.stdout], [], [], JOB_SECONDS)[0]:
            os.killpg(self._process.pid, signal.SIGKILL)
            raise TimeoutError(f"{job['do']} took longer than {JOB_SECONDS:.0f} s")
        line = self._process.stdout.readline()
        if not line:
            log = (self._folder / "driver.log").read_text(errors="replace").strip()
            raise RuntimeError((log.splitlines() or ["its driver ended"])[-1])
        answer: Answer = json.loads(line)
        return answer


def _environment(folder: Path) -> dict[str, str]:
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("SEAMARK_", "DJANGO_", "MLFLOW_", "WANDB_", "TRACKIO_"))
    }
    return {
        **kept,
        "HOME": str(folder),
        "XDG_CONFIG_HOME": str(folder / "config"),
        "TMPDIR": str(folder),
    }
