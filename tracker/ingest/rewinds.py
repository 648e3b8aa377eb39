"""Stores the steps from which series are logged again."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import islice
from uuid import UUID

import numpy as np

from tracker.ingest.batch import Batch, Message, refuse
from tracker.ingest.limits import LIMITS
from tracker.ingest.messages import Rewound
from tracker.ingest.refusal import Refusal
from tracker.models import Rewind, Run
from tracker.series.rewinds import stairs_of
from tracker.server.statements import carry_out, carry_out_many, every_row, key, many

# Up to a hundred thousand rows in a transaction that blocks others: the ORM takes seven
# times as long.
_INSERT = (
    "INSERT INTO tracker_rewind (run_id, path, step, time) VALUES (%s, %s, %s, %s)"
    " ON CONFLICT DO NOTHING"
)
_COUNT = (
    "SELECT path, COUNT(*) FROM tracker_rewind"
    " WHERE run_id IN ({runs}) AND path = ANY(%s) GROUP BY path"
)
_SELECT = (
    "SELECT path, id, step, time FROM tracker_rewind"
    " WHERE run_id IN ({runs}) AND path = ANY(%s)"
)
_DELETE = "DELETE FROM tracker_rewind WHERE id = ANY(%s)"
# Series cleaned up per batch, because other writers wait; later batches clean up the
# rest.
CLEARED_AT_ONCE = 100

REFUSED = "too_many_rewinds"
_OF_RUN = f"The run would have more than {LIMITS.run_rewinds} series logged again."
_OF_SERIES = f"The series was already logged again {LIMITS.series_rewinds} times."


def write_rewinds(run_id: UUID, batch: Batch, now: datetime) -> Batch:
    """Store rewinds, and reject those above a limit; idempotent."""
    rewound = [
        (message, message.content)
        for message in batch.messages
        if isinstance(message.content, Rewound)
    ]
    if not rewound:
        return batch
    room, rooms = _rooms(run_id, [content for _, content in rewound])
    stored: list[Rewound] = []
    surplus: list[Message] = []
    refusals: list[Refusal] = []
    for message, content in rewound:
        full = {path for path in content.steps if rooms[path] < 1}
        if len(content.steps) - len(full) > room:
            surplus.append(message)
            continue
        for path in sorted(full):
            place = message.frame, message.index
            refusals.append(Refusal(*place, REFUSED, _OF_SERIES, path))
        kept = {path: step for path, step in content.steps.items() if path not in full}
        stored.append(Rewound(kept, content.time))
        room -= len(kept)
        rooms.subtract(kept.keys())
    if any(content.steps for content in stored):
        _write(run_id, stored, now)
    batch = replace(batch, refusals=(*batch.refusals, *refusals))
    return refuse(batch, surplus, REFUSED, _OF_RUN)


def _rooms(run_id: UUID, rewound: Sequence[Rewound]) -> tuple[int, Counter[str]]:
    """Return how many rewinds may be added to the run, and to each series.

    Redundant rewinds of full series are deleted.
    """
    most = LIMITS.series_rewinds
    added = Counter(path for content in rewound for path in content.steps)
    rooms = Counter(dict.fromkeys(added, most))
    count = Rewind.objects.filter(run_id=run_id).count()
    # Counting per series is needed only if the run's total could exceed the limit of
    # one.
    if count + max(added.values(), default=0) > most:
        counts = dict(every_row(_COUNT, [many(added)], run_ids={run_id}))
        rooms.subtract(counts)
        full = (path for path in counts if rooms[path] < added[path])
        cleared = _clear(run_id, [*islice(full, CLEARED_AT_ONCE)])
        rooms.update(cleared)
        count -= cleared.total()
    return LIMITS.run_rewinds - count, rooms


def _clear(run_id: UUID, paths: Sequence[str]) -> Counter[str]:
    """Delete redundant rewinds; return their number per series."""
    rows = defaultdict(list)
    for path, *row in every_row(_SELECT, [many(paths)], run_ids={run_id}):
        rows[path].append(row)
    cleared: Counter[str] = Counter()
    deleted: list[int] = []
    for path, of_series in rows.items():
        ids, steps, times = zip(*of_series, strict=True)
        stairs = stairs_of(np.array(steps, np.float64), np.array(times, np.int64))
        surplus = np.delete(np.array(ids, np.int64), stairs).tolist()
        cleared[path] = len(surplus)
        deleted += surplus
    if deleted:
        carry_out(_DELETE, [many(deleted)])
    return cleared


def _write(run_id: UUID, stored: list[Rewound], now: datetime) -> None:
    carry_out_many(_INSERT, _rows(key(run_id), stored))
    Run.objects.filter(id=run_id, rewound_at=None).update(rewound_at=now)


def _rows(run_key: UUID | str, stored: list[Rewound]) -> Iterator[Sequence[object]]:
    for content in stored:
        for path, step in content.steps.items():
            yield run_key, path, step, content.time
