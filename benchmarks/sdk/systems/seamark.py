"""Seamark's agent, offline: into its ring and its spool."""

from __future__ import annotations

import os
from typing import ClassVar

from benchmarks.sdk.client import PROJECT, Client


class Seamark(Client):
    package = "seamark"
    writing = "`Run.log`, offline: into the spool, to be delivered later"
    environment: ClassVar[dict[str, str]] = {"SEAMARK_MODE": "offline"}

    _dropped = _beside = 0

    def load(self) -> None:
        os.environ["SEAMARK_SPOOL"] = str(self.folder)
        import agent  # noqa: PLC0415 - it is measured

        self._agent = agent

    def open(self, run: str) -> None:
        self._run = self._agent.init(run, project=PROJECT, monitor=False)
        # The agent reports drops only to the server, so read its counter.
        buffer = self._run._recorder.buffer  # noqa: SLF001
        buffer.count_dropped = self._count_dropped  # type: ignore[method-assign]
        self._put_row = buffer.put_row
        buffer.put_row = self._put_beside  # type: ignore[method-assign]
        session = self._run._session  # noqa: SLF001 - likewise
        self._has_ring = session is not None and session.ring is not None
        self.log = self._run.log

    def close(self) -> None:
        self._run.finish()

    def dropped(self) -> int:
        return self._dropped

    def has_ring(self) -> bool:
        return self._has_ring

    def beside_ring(self) -> int:
        return self._beside

    def _put_beside(self, row: bytes, points: int) -> None:
        self._beside += points
        self._put_row(row, points)

    def _count_dropped(self, points: int) -> None:
        self._dropped += points


CLIENT = Seamark
