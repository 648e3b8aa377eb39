"""Distinguishes a run's parameters from its results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Protocol
from uuid import UUID

from tracker.ingest.batch import TAGS, Batch
from tracker.ingest.messages import FileValue, SetValue
from tracker.models import Attribute, Kind
from tracker.queries.run.namespaces import MONITORING, names_parameter


class Known(Protocol):
    @property
    def is_parameter(self) -> bool: ...


def new_parameters(run_id: UUID, batch: Batch) -> set[str]:
    """Return the paths that would be parameters of the run if they are new.

    A value is a parameter by its path, or if it was set before the run had any series.
    """
    values = list(_values_of(batch))
    early = {value.path for value in values if value.early}
    if early and _has_series(run_id):
        early = set()
    return early | {value.path for value in values if names_parameter(value.path)}


def kept_parameters(batch: Batch, known: Mapping[str, Known]) -> set[str]:
    """Return the paths that are still parameters after the batch.

    A value that a process sets after its first points is a result.
    """
    return {
        value.path
        for value in _values_of(batch)
        if names_parameter(value.path)
        or (value.early and known[value.path].is_parameter)
    }


def _values_of(batch: Batch) -> Iterator[SetValue]:
    """Yield the values that scripts set, without files and tags."""
    for message in batch.messages:
        content = message.content
        if (
            isinstance(content, SetValue)
            and not isinstance(content.value, FileValue)
            and content.path != TAGS
            and not content.path.startswith(MONITORING)
        ):
            yield content


def _has_series(run_id: UUID) -> bool:
    series = Attribute.objects.filter(run_id=run_id, kind=Kind.FLOAT_SERIES)
    return series.exclude(path__startswith=MONITORING).exists()
