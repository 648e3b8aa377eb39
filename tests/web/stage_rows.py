"""Stage and process rows as plain values, for tests of pages."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from tracker.queries.run.run import ProcessRow, StageRow

NOW = datetime(2026, 1, 2, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


def process_row(rank: int = 0, **fields: Any) -> ProcessRow:
    return ProcessRow(
        **{
            "rank": rank,
            "host": "node-1",
            "process_id": 42,
            "is_helper": False,
            "state": "finished",
            "failure": "",
            "started_at": NOW,
            "ended_at": NOW + MINUTE,
            "last_known": NOW + MINUTE,
            "agent_version": "1",
            "dropped_points": 0,
            "refused": {},
            **fields,
        }
    )


def stage_row(name: str = "train", *processes: ProcessRow, **fields: Any) -> StageRow:
    return StageRow(
        **{
            "name": name,
            "state": "finished",
            "failure": "",
            "started_at": NOW,
            "last_known": NOW + MINUTE,
            "processes": processes or (process_row(),),
            "gpu_percent": None,
            "cpu_percent": None,
            **fields,
        }
    )
