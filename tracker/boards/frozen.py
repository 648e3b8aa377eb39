"""A dashboard or a report as it was when somebody froze it for a share link (pure)."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec
from msgspec import Struct

from tracker.boards.board import Board, RunSet, checked


class Frozen(Struct, frozen=True, kw_only=True):
    """Of a dashboard its board, of a report its text; of each widget the runs it showed.

    What is frozen is which runs are shown and how, not what they log.
    """

    name: str
    saved_at: datetime
    # By a widget's id; of a widget about a ladder those of its rungs.
    runs: dict[str, tuple[UUID, ...]]
    board: Board | None = None
    text: str = ""
    number: int = 0

    def run_set(self, widget_id: str) -> RunSet:
        """Return the runs of a widget, whatever its own set would find by now."""
        return RunSet(runs=self.runs.get(widget_id, ()))

    @property
    def run_ids(self) -> set[UUID]:
        return {run_id for ids in self.runs.values() for run_id in ids}


def plain(frozen: Frozen) -> Any:
    """Return what JSON can hold of it."""
    return msgspec.to_builtins(frozen)


def frozen_from(stored: Any) -> Frozen:
    """Read what was stored."""
    return checked(stored, Frozen)
