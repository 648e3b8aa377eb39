"""TensorBoard: event files by tensorboardX's SummaryWriter, which needs no torch."""

from __future__ import annotations

from benchmarks.sdk.client import Client, Metrics


class TensorBoard(Client):
    package = "tensorboardX"
    writing = "`SummaryWriter.add_scalar` per point, into an event file"

    def load(self) -> None:
        from tensorboardX import (  # type: ignore[import-not-found]  # noqa: PLC0415
            SummaryWriter,
        )

        self._kind = SummaryWriter

    def open(self, run: str) -> None:
        self._writer = self._kind(str(self.folder / run))
        self.log = self._log

    def close(self) -> None:
        self._writer.close()

    def _log(self, metrics: Metrics, step: int) -> None:
        add = self._writer.add_scalar
        for name, value in metrics.items():
            add(name, value, step)


CLIENT = TensorBoard
