"""A snapshot of a dashboard or report for a share link (pure)."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec
from msgspec import Struct

from tracker.boards.board import Board, RunSet, checked


class Frozen(Struct, frozen=True, kw_only=True):
    """A dashboard's board or a report's text, with the runs of each widget.

    It fixes the runs shown and their layout, but not their data.
    """

    name: str
    saved_at: datetime
    # By widget id; for a ladder widget, the runs of its steps.
    runs: dict[str, tuple[UUID, ...]]
    board: Board | None = None
    text: str = ""
    number: int = 0

    def run_set(self, widget_id: str) -> RunSet:
        """Return the runs of a widget at the time of the snapshot."""
        return RunSet(runs=self.runs.get(widget_id, ()))

    @property
    def run_ids(self) -> set[UUID]:
        return {run_id for ids in self.runs.values() for run_id in ids}


def plain(frozen: Frozen) -> Any:
    """Return the snapshot as JSON."""
    return msgspec.to_builtins(frozen)


def frozen_from(stored: Any) -> Frozen:
    """Parse a stored snapshot."""
    return checked(stored, Frozen)
