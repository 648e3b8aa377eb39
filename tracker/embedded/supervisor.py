"""Keeps the programs of embedded mode running until it is stopped."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from pathlib import Path

from tracker.embedded.child import Child, PrintLine, Program

LOOK_SECONDS = 0.1
LIMIT_LOGS_SECONDS = 10.0
# Time for running requests and tasks; their rows survive an interruption.
STOP_SECONDS = 8.0


class Supervisor:
    """One thread starts and watches all children.

    The kernel kills the children when that thread ends, so it ends last.
    """

    def __init__(
        self, programs: Sequence[Program], *, log_folder: Path, print_line: PrintLine
    ) -> None:
        self.children = [
            Child(program, log_folder=log_folder, print_line=print_line)
            for program in programs
        ]
        self._is_stopping = threading.Event()
        self._thread = threading.Thread(
            target=self._run, name="supervisor", daemon=True
        )

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Stop all children and wait for them; idempotent."""
        self._is_stopping.set()
        if self._thread.ident is not None:
            self._thread.join()

    def keeps_ending(self, name: str) -> bool:
        """Return whether a program is in a crash loop."""
        return any(
            child.keeps_ending for child in self.children if child.program.name == name
        )

    def _run(self) -> None:
        limit_logs_at = 0.0
        try:
            while not self._is_stopping.wait(LOOK_SECONDS):
                for child in self.children:
                    child.look()
                if time.monotonic() > limit_logs_at:
                    limit_logs_at = time.monotonic() + LIMIT_LOGS_SECONDS
                    for child in self.children:
                        child.limit_log()
        finally:
            for child in self.children:
                child.ask_to_stop()
            deadline = time.monotonic() + STOP_SECONDS
            for child in self.children:
                child.wait(deadline)
