"""wandb without a network: it only writes a file that is to be uploaded later."""

from __future__ import annotations

import os
from importlib.metadata import version
from typing import Any

from benchmarks.peers.driving import drive
from benchmarks.peers.system import System
from benchmarks.peers.workload import Block

PROJECT = "benchmark"

Rows = list[tuple[dict[str, float], int]]


class Wandb(System[Rows]):
    release = version("wandb")
    writing = "`Run.log` per step, offline: a file to be uploaded, nothing is served"
    reading = ""
    is_readable = False

    def open(self, run: str) -> None:
        os.environ["WANDB_ERROR_REPORTING"] = "false"
        import wandb  # type: ignore[import-not-found]  # noqa: PLC0415

        self._run: Any = wandb.init(
            project=PROJECT,
            name=run,
            mode="offline",
            dir=str(self.data),
            settings=wandb.Settings(
                console="off", x_disable_stats=True, x_disable_meta=True
            ),
        )

    def prepare(self, block: Block) -> Rows:
        return [(metrics, step) for step, _, metrics in block.rows()]

    def send(self, prepared: Rows) -> None:
        for metrics, step in prepared:
            self._run.log(metrics, step=step)

    def close(self) -> None:
        self._run.finish()


if __name__ == "__main__":
    drive({"offline": Wandb})
