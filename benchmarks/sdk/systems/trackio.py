"""trackio, without a server: each process writes its SQLite file."""

from __future__ import annotations

import os
from typing import ClassVar

from benchmarks.sdk.client import PROJECT, Client


class Trackio(Client):
    package = "trackio"
    writing = "`trackio.log`, which it writes in batches to its SQLite file"
    environment: ClassVar[dict[str, str]] = {
        "HF_HUB_OFFLINE": "1",
        "HF_HUB_DISABLE_TELEMETRY": "1",
    }

    def load(self) -> None:
        # It reads its folder when it is imported.
        os.environ["TRACKIO_DIR"] = str(self.folder)
        import trackio  # type: ignore[import-not-found]  # noqa: PLC0415

        self._trackio = trackio

    def open(self, run: str) -> None:
        self._trackio.init(PROJECT, name=run, auto_log_cpu=False, auto_log_gpu=False)
        self.log = self._trackio.log

    def close(self) -> None:
        self._trackio.finish()


CLIENT = Trackio
