"""Series of runs that were logged again from an earlier step."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from uuid import UUID

import numpy as np

from tracker.models import Run
from tracker.queries.run.attributes import storable
from tracker.series.rewinds import Replaced, replaced_by
from tracker.server.statements import every_row, key, many

SELECT_REWINDS = (
    "SELECT run_id, path, step, time FROM tracker_rewind"
    " WHERE run_id IN ({runs}) AND path = ANY(%s)"
)


def read_replaced(
    runs: Iterable[Run], paths: Collection[str]
) -> dict[tuple[UUID, str], Replaced]:
    """Return the replaced ranges by run and path; most runs need no statement."""
    rewound = {key(run.id): run.id for run in runs if run.rewound_at is not None}
    found: dict[tuple[UUID, str], list[tuple[float, int]]] = defaultdict(list)
    if rewound:
        parameters = [many(storable(paths))]
        run_ids = set(rewound.values())
        for run_key, path, step, time in every_row(
            SELECT_REWINDS, parameters, run_ids=run_ids
        ):
            found[rewound[run_key], path].append((step, time))
    return {place: _replaced_by(rows) for place, rows in found.items()}


def _replaced_by(rows: Sequence[tuple[float, int]]) -> Replaced:
    steps, times = zip(*rows, strict=True)
    return replaced_by(np.array(steps, np.float64), np.array(times, np.int64))
