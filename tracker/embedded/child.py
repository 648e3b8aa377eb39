"""A supervised program, restarted when it ends."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tracker.server.processes import ROOT

# The pause before each restart doubles from the first to the longest.
FIRST_PAUSE_SECONDS = 0.2
LONGEST_PAUSE_SECONDS = 30.0
# A program that ran this long has recovered.
STEADY_SECONDS = 20.0
# After this many ends without recovery it is a crash loop: reported once, then retried
# silently.
LOOP_LENGTH = 3
LOG_SIZE_BYTES = 5_000_000
# Their files are readable only by the owner, even in a shared data folder.
PRIVATE = 0o077

PrintLine = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Program:
    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str]


class Child:
    def __init__(
        self, program: Program, *, log_folder: Path, print_line: PrintLine
    ) -> None:
        self.program = program
        self.log = log_folder / f"{program.name}.log"
        self.process: subprocess.Popen[bytes] | None = None
        self._print_line = print_line
        self._started_at = 0.0
        self._start_again_at = 0.0
        self._failure_count = 0

    @property
    def keeps_ending(self) -> bool:
        return self._failure_count >= LOOP_LENGTH

    def start(self) -> None:
        launch = [sys.executable, "-m", "tracker.embedded.launch", str(os.getpid())]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [*launch, *self.program.command],
                cwd=ROOT,
                env=dict(self.program.environment),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                umask=PRIVATE,
                # A separate process group: Ctrl-C goes to the supervisor, which stops
                # all in order.
                start_new_session=True,
            )
        self._started_at = time.monotonic()

    def look(self) -> None:
        """Restart the program if it has ended and the pause is over."""
        now = time.monotonic()
        if self.process is None:
            if now >= self._start_again_at:
                self.start()
            return

        exit_code = self.process.poll()
        if exit_code is None:
            if now - self._started_at > STEADY_SECONDS:
                self._failure_count = 0
        else:
            self.kill()
            self.process = None
            pause_seconds = FIRST_PAUSE_SECONDS * 2**self._failure_count
            self._start_again_at = now + min(pause_seconds, LONGEST_PAUSE_SECONDS)
            self._failure_count += 1
            self._report(exit_code)

    def ask_to_stop(self) -> None:
        if self.process is not None:
            self.process.terminate()

    def wait(self, deadline: float) -> None:
        """Wait until it has ended; at the deadline, kill its process group."""
        if self.process is None:
            return
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(max(0.0, deadline - time.monotonic()))
        self.kill()
        self.process.wait()
        self.process = None

    def kill(self) -> None:
        if self.process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)

    def limit_log(self) -> None:
        """Keep one older log; the program continues writing at the start of this one."""
        with suppress(FileNotFoundError):
            if self.log.stat().st_size > LOG_SIZE_BYTES:
                shutil.copyfile(self.log, self.log.with_suffix(".log.1"))
                os.truncate(self.log, 0)

    def _report(self, exit_code: int) -> None:
        how = f"code {exit_code}" if exit_code >= 0 else f"signal {-exit_code}"
        name = self.program.name
        if self._failure_count < LOOP_LENGTH:
            self._print_line(f"The {name} ended ({how}) and is restarted.")
        elif self._failure_count == LOOP_LENGTH:
            self._print_line(
                f"The {name} keeps ending ({how}) and is tried again, "
                f"at last every {LONGEST_PAUSE_SECONDS:.0f} s; see {self.log}."
            )
