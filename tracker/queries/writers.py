"""Which series of a run several processes logged to at the same time."""

from __future__ import annotations

from collections.abc import Collection

from tracker.models import Attribute, Run
from tracker.queries.attributes import storable
from tracker.series.writers import Writer


def read_writers(run: Run, paths: Collection[str]) -> dict[str, tuple[Writer, ...]]:
    """Return who they are, by path; most series have one, and are absent."""
    shared = Attribute.objects.filter(
        run_id=run.id, path__in=storable(paths), writers__isnull=False
    )
    return {
        path: tuple(Writer(*writer) for writer in writers or ())
        for path, writers in shared.values_list("path", "writers")
    }
