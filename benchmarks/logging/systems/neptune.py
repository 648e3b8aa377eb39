"""neptune, offline: a queue on disk that is to be synchronized later."""

from __future__ import annotations

import os
from typing import ClassVar

from benchmarks.logging.client import Client, Metrics


class Neptune(Client):
    package = "neptune"
    writing = "`run[name].append` per point, offline: a queue on disk"
    environment: ClassVar[dict[str, str]] = {"NEPTUNE_MODE": "offline"}

    def load(self) -> None:
        os.environ["NEPTUNE_DATA_DIRECTORY"] = str(self.folder)
        import neptune  # type: ignore[import-not-found]  # noqa: PLC0415

        self._neptune = neptune

    def open(self, run: str) -> None:
        self._run = self._neptune.init_run(
            name=run,
            mode="offline",
            capture_stdout=False,
            capture_stderr=False,
            capture_hardware_metrics=False,
            capture_traceback=False,
            git_ref=False,
            source_files=[],
        )
        self.log = self._log

    def close(self) -> None:
        self._run.stop()

    def _log(self, metrics: Metrics, step: int) -> None:
        run = self._run
        for name, value in metrics.items():
            run[name].append(value, step=step)


CLIENT = Neptune
