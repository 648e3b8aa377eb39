"""TensorBoard: event files by tensorboardX's SummaryWriter, read by its own classes."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from urllib.parse import urlencode

from benchmarks.peers.driving import drive
from benchmarks.peers.system import Http, Server, System, free_port
from benchmarks.peers.workload import Block

FORM = {"Content-Type": "application/x-www-form-urlencoded"}
LOOK_SECONDS = 0.02
STEP = 1  # index in the server's answer

Points = list[tuple[str, float, int, float]]


class TensorBoard(System[Points]):
    release = version("tensorboard")
    writing = "`SummaryWriter.add_scalar` per point, into a file per run"
    reading = "`EventAccumulator` with all points; charts over HTTP, 1,000 sampled"

    def __init__(self, folder: Path, address: dict[str, str] | None = None) -> None:
        super().__init__(folder, address)
        self._server: Server | None = None
        self._http: Http | None = None
        self._last_steps: dict[str, int] = {}

    def start(self) -> None:
        # It would read the files again and again while they are written.
        if any(self.data.iterdir()):
            self._serve()

    def count(self, run: str, names: Sequence[str]) -> int:
        from tensorboard.backend.event_processing import (  # type: ignore[import-not-found]  # noqa: PLC0415
            event_accumulator,
        )

        reader = event_accumulator.EventAccumulator(
            str(self.data / run), {event_accumulator.SCALARS: 0}
        )
        reader.Reload()
        found = 0
        for name in set(names) & set(reader.Tags()[event_accumulator.SCALARS]):
            points = reader.Scalars(name)
            found += len(points)
            self._last_steps[run] = points[-1].step
        return found

    def chart(self, runs: Sequence[str], name: str) -> bytes:
        """Request until the server, which reads files in the background, has all data."""
        assert self._http is not None
        query = urlencode([("tag", name), *(("runs", run) for run in runs)]).encode()
        while True:
            answer = self._http.post(
                "/data/plugin/scalars/scalars_multirun", query, FORM
            )
            points = json.loads(answer)
            if all(
                run in points and points[run][-1][STEP] == self._last_steps[run]
                for run in runs
            ):
                return answer
            time.sleep(LOOK_SECONDS)

    def stop(self) -> None:
        if self._server is not None:
            self._server.stop()
            self._server = None

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

    def _serve(self) -> None:
        port = free_port()
        self._server = Server(
            [
                *(sys.executable, "-m", "tensorboard.main"),
                *("--logdir", str(self.data), "--port", str(port)),
            ],
            port=port,
            log=self.folder / "web.log",
            folder=self.folder,
        )
        self._http = Http(port)


if __name__ == "__main__":
    drive({"local": TensorBoard})
