"""A cheap version of stored data, to be read before the points themselves."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b

from tracker.models import Run
from tracker.server.statements import every_row, key

COUNT_FRAMES = (
    "SELECT run_id, count(*), sum(last_number) FROM tracker_spool"
    " WHERE run_id IN ({runs}) GROUP BY run_id"
)

COUNT_ENTRIES = (
    "SELECT run_id, count(*), max(last_number) FROM tracker_journalentry"
    " WHERE run_id IN ({runs}) GROUP BY run_id"
)


def version_of(runs: Sequence[Run], *question: object) -> str:
    """Return a text that changes whenever the points of these runs or the question do.

    Points are stored in the transaction that counts their records, and records are only added. So
    data read afterwards is at least as new as this version.
    """
    frames = every_row(COUNT_FRAMES, [], run_ids=[run.id for run in runs])
    stored = {run_key: (spools, int(last)) for run_key, spools, last in frames}
    described = [
        # The start of the relative axis, and whether the run is live.
        (run.id.hex, run.state, run.started_at, run.ended_at, stored.get(key(run.id)))
        for run in runs
    ]
    return blake2b(repr((question, described)).encode(), digest_size=12).hexdigest()


def version_of_summaries(runs: Sequence[Run], *question: object) -> str:
    """Return a text that changes whenever attributes of these runs or their summaries do.

    A series is summarized when its points leave the journal, after they were counted. Changes that
    users make on a run's pages are not included.
    """
    entries = every_row(COUNT_ENTRIES, [], run_ids=[run.id for run in runs])
    waiting = {run_key: (count, int(last)) for run_key, count, last in entries}
    described = [waiting.get(key(run.id)) for run in runs]
    return version_of(runs, described, *question)
