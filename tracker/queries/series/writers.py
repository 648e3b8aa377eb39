"""Series of runs that several processes logged to at the same time."""

from __future__ import annotations

from collections.abc import Collection
from uuid import UUID

from tracker.models import Attribute
from tracker.queries.run.attributes import storable
from tracker.series.writers import Writer


def read_writers(
    run_ids: Collection[UUID], paths: Collection[str]
) -> dict[tuple[UUID, str], tuple[Writer, ...]]:
    """Return the writers by run and path; most series have one, and are absent."""
    shared = Attribute.objects.filter(
        run_id__in=run_ids, path__in=storable(paths), writers__isnull=False
    )
    return {
        (run_id, path): tuple(Writer(*writer) for writer in writers or ())
        for run_id, path, writers in shared.values_list("run_id", "path", "writers")
    }
