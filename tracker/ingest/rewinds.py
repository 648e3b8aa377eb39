"""Stores from which steps on series are logged again."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from uuid import UUID

from tracker.ingest.batch import Batch
from tracker.ingest.messages import Rewound
from tracker.models import Rewind, Run

_ROWS_AT_ONCE = 1_000


def write_rewinds(run_id: UUID, batch: Batch, now: datetime) -> None:
    """Note them; the same may be said again."""
    rows = list(_rows(run_id, batch))
    if not rows:
        return
    Rewind.objects.bulk_create(rows, batch_size=_ROWS_AT_ONCE, ignore_conflicts=True)
    Run.objects.filter(id=run_id, rewound_at=None).update(rewound_at=now)


def _rows(run_id: UUID, batch: Batch) -> Iterator[Rewind]:
    for message in batch.messages:
        if isinstance(message.content, Rewound):
            for path, step in message.content.steps.items():
                time = message.content.time
                yield Rewind(run_id=run_id, path=path, step=step, time=time)
