"""TensorBoard: event files by tensorboardX's SummaryWriter, read by its own classes."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version

from benchmarks.ingest.driving import drive
from benchmarks.ingest.system import System
from benchmarks.ingest.workload import Block

Points = list[tuple[str, float, int, float]]


class TensorBoard(System[Points]):
    release = version("tensorboard")
    writing = "`SummaryWriter.add_scalar` per point, into a file per run"
    reading = "`EventAccumulator` with all points"

    def count(self, run: str, names: Sequence[str]) -> int:
        from tensorboard.backend.event_processing import (  # type: ignore[import-not-found]  # noqa: PLC0415
            event_accumulator,
        )

        reader = event_accumulator.EventAccumulator(
            str(self.data / run), {event_accumulator.SCALARS: 0}
        )
        reader.Reload()
        found = set(names) & set(reader.Tags()[event_accumulator.SCALARS])
        return sum(len(reader.Scalars(name)) for name in found)

    def open(self, run: str) -> None:
        from tensorboardX import (  # type: ignore[import-not-found]  # noqa: PLC0415
            SummaryWriter,
        )

        self._writer = SummaryWriter(str(self.data / run))

    def prepare(self, block: Block) -> Points:
        return [
            (name, value, step, wall_time)
            for step, wall_time, metrics in block.rows()
            for name, value in metrics.items()
        ]

    def send(self, prepared: Points) -> None:
        for name, value, step, wall_time in prepared:
            self._writer.add_scalar(name, value, step, wall_time)

    def close(self) -> None:
        self._writer.close()


if __name__ == "__main__":
    drive({"local": TensorBoard})
