"""A cheap answer to: has anything arrived since? Read before the points themselves."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b

from django.db.models import Count, Sum

from tracker.models import Run, Spool


def version_of(runs: Sequence[Run], *question: object) -> str:
    """Return a text that changes whenever the points of these runs, or what is asked, do.

    Points are stored in the transaction that counts their frames, and frames are only
    ever added. So what is read after this is never older than it says.
    """
    frames = (
        Spool.objects.filter(run_id__in=[run.id for run in runs])
        .values_list("run_id")
        .annotate(Count("id"), Sum("last_number"))
    )
    stored = {run_id: (spools, int(last)) for run_id, spools, last in frames}
    described = [
        # Where the relative axis begins, and whether to look again.
        (run.id.hex, run.state, run.started_at, run.ended_at, stored.get(run.id))
        for run in runs
    ]
    return blake2b(repr((question, described)).encode(), digest_size=12).hexdigest()
