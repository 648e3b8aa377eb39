"""neptune-scale, offline: a SQLite file per run that is to be synchronized later."""

from __future__ import annotations

from typing import ClassVar

from benchmarks.logging.client import PROJECT, Client


class NeptuneScale(Client):
    package = "neptune-scale"
    writing = "`Run.log_metrics`, offline: one commit each, into a SQLite file per run"
    environment: ClassVar[dict[str, str]] = {"NEPTUNE_MODE": "offline"}

    def load(self) -> None:
        import neptune_scale  # type: ignore[import-not-found]  # noqa: PLC0415

        self._neptune_scale = neptune_scale

    def open(self, run: str) -> None:
        self._run = self._neptune_scale.Run(
            project=f"home/{PROJECT}",
            experiment_name=run,
            mode="offline",
            log_directory=str(self.folder),
            enable_console_log_capture=False,
        )
        self.log = self._run.log_metrics

    def close(self) -> None:
        self._run.close()


CLIENT = NeptuneScale
