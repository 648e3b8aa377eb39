"""wandb, offline: its service writes a file that is to be uploaded later."""

from __future__ import annotations

from typing import ClassVar

from benchmarks.sdk.client import PROJECT, Client


class Wandb(Client):
    package = "wandb"
    writing = "`Run.log`, offline: a file to be uploaded"
    environment: ClassVar[dict[str, str]] = {
        "WANDB_MODE": "offline",
        "WANDB_ERROR_REPORTING": "false",
    }

    def load(self) -> None:
        import wandb  # type: ignore[import-not-found]  # noqa: PLC0415

        self._wandb = wandb

    def open(self, run: str) -> None:
        settings = self._wandb.Settings(
            console="off", silent=True, x_disable_stats=True, x_disable_meta=True
        )
        self._run = self._wandb.init(
            project=PROJECT,
            name=run,
            mode="offline",
            dir=str(self.folder),
            settings=settings,
        )
        self.log = self._run.log

    def close(self) -> None:
        self._run.finish()


CLIENT = Wandb
