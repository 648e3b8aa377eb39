"""Writes a batch's attributes: new paths, values and tags.

Rows are always locked in order of their paths, so that two batches of one run cannot
deadlock.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from tracker.errors import RunFinished
from tracker.ingest.batch import TAGS, Batch, Message, paths_of, refuse
from tracker.ingest.files import write_files
from tracker.ingest.limits import LIMITS
from tracker.ingest.messages import (
    AddPoints,
    ChangeTags,
    Content,
    FileValue,
    Rewound,
    SetValue,
    Value,
)
from tracker.ingest.parameters import kept_parameters
from tracker.ingest.pipeline import kind_of, kind_of_value
from tracker.ingest.spools import LockedSpool
from tracker.models import Attribute, Kind, State

# Well below both databases' limits on query parameters.
PATHS_IN_QUERY = 5_000
ROWS_IN_INSERT = 1_000
# Above this, a float cannot represent every integer.
EXACT_INTEGER = 2**53
STORED_FIELDS = ("kind", "number", "is_nan", "text", "items")
VALUE_FIELDS = (*STORED_FIELDS, "is_parameter", "updated_at")
CLOSED = (
    "The run had already finished; with this API key a process may add to a finished"
    " run but not change it."
)


@dataclass(frozen=True, slots=True)
class KnownAttribute:
    id: int
    kind: Kind
    is_parameter: bool = False


def known_attributes(run_id: UUID, paths: Iterable[str]) -> dict[str, KnownAttribute]:
    """Return the run's attributes among the paths."""
    ordered = sorted(paths)
    known: dict[str, KnownAttribute] = {}
    for low in range(0, len(ordered), PATHS_IN_QUERY):
        rows = Attribute.objects.filter(
            run_id=run_id, path__in=ordered[low : low + PATHS_IN_QUERY]
        )
        for path, key, kind, is_parameter in rows.values_list(
            "path", "id", "kind", "is_parameter"
        ):
            known[path] = KnownAttribute(key, Kind(kind), bool(is_parameter))
    return known


def register_paths(
    run_id: UUID,
    project_id: int,
    kinds: Mapping[str, Kind],
    *,
    parameters: Container[str] = (),
) -> None:
    """Insert the paths; keep one that another batch inserted concurrently."""
    Attribute.objects.bulk_create(
        [
            Attribute(
                run_id=run_id,
                project_id=project_id,
                path=path,
                kind=kinds[path],
                is_parameter=path in parameters,
            )
            for path in sorted(kinds)
        ],
        ignore_conflicts=True,
        batch_size=ROWS_IN_INSERT,
    )


def single_kinds(
    batch: Batch, *, beside: Container[tuple[str, ...]]
) -> dict[str, Kind]:
    """Return the kind of each path, from the first message that contains it.

    Skips messages whose list of paths is in `beside`, because those are known.
    """
    kinds: dict[str, Kind] = {}
    for message in batch.messages:
        content = message.content
        if isinstance(content, AddPoints) and content.paths in beside:
            continue
        for path in paths_of(content):
            kinds.setdefault(path, kind_of(content))
    return kinds


def refuse_changes(spool: LockedSpool, batch: Batch) -> Batch:
    """Reject changes to attributes of a finished run that is closed to the process."""
    # `close` is a process's last message, so later ones may not change anything.
    has_closed = spool.state == State.FINISHED
    if spool.closed_attributes is None and not has_closed:
        return batch
    newest = {} if has_closed else {"id__lte": spool.closed_attributes}
    paths = {m.content.path for m in batch.messages if isinstance(m.content, SetValue)}
    closed = {
        row.path: row
        for row in Attribute.objects.filter(
            run_id=spool.run_id, path__in=paths, **newest
        )
    }

    def changes(content: Content) -> bool:
        match content:
            case SetValue(path=path, value=value) if path in closed:
                row = _row(spool, path, value)
                return any(
                    getattr(row, name) != getattr(closed[path], name)
                    for name in STORED_FIELDS
                )
            case ChangeTags(remove=remove):
                return bool(remove)
            case Rewound():
                return True
            case _:
                return False

    changing = [message for message in batch.messages if changes(message.content)]
    return refuse(batch, changing, RunFinished.code, CLOSED)


def write_values(
    spool: LockedSpool, batch: Batch, known: Mapping[str, KnownAttribute]
) -> Batch:
    """Store the last value of each path; reject tags above the limit.

    A parameter that a process sets after its first points becomes a result.
    """
    values: dict[str, Value] = {}
    parameters = kept_parameters(batch, known)
    surplus: list[Message] = []
    for message in batch.messages:
        match message.content:
            case SetValue(path=path, value=value):
                values[path] = value
            case ChangeTags() as change:
                if TAGS not in values:
                    values[TAGS] = _stored_tags(spool.run_id)
                tags = _changed(values[TAGS], change)
                if len(tags) <= LIMITS.set_strings:
                    values[TAGS] = tags
                else:
                    surplus.append(message)

    if values:
        Attribute.objects.bulk_create(
            [
                _row(spool, path, values[path], is_parameter=path in parameters)
                for path in sorted(values)
            ],
            update_conflicts=True,
            unique_fields=["run", "path"],
            update_fields=VALUE_FIELDS,
            batch_size=ROWS_IN_INSERT,
        )
        write_files(
            spool,
            {path: v for path, v in values.items() if isinstance(v, FileValue)},
        )
    return refuse(
        batch,
        surplus,
        "value_too_large",
        f"The run would have more than {LIMITS.set_strings} tags.",
    )


def _stored_tags(run_id: UUID) -> tuple[str, ...]:
    # Locked, so that concurrent additions are not lost.
    tags = (
        Attribute.objects.select_for_update(no_key=True)
        .filter(run_id=run_id, path=TAGS)
        .values_list("items", flat=True)
    )
    return tuple(tags.get() or ())


def _changed(tags: Value, change: ChangeTags) -> tuple[str, ...]:
    present = set(tags) if isinstance(tags, tuple) else set()
    return tuple(sorted((present | set(change.add)) - set(change.remove)))


def _row(
    spool: LockedSpool, path: str, value: Value, *, is_parameter: bool = False
) -> Attribute:
    row = Attribute(
        run_id=spool.run_id,
        project_id=spool.project_id,
        path=path,
        kind=kind_of_value(value),
        is_parameter=is_parameter,
    )
    match value:
        case None:
            row.text = "None"
        case float() if math.isnan(value):
            row.is_nan = True
        case bool() | float():
            # SQLite loses the sign of -0.0, so it is dropped on both databases.
            row.number = float(value) + 0.0
        case int():
            row.number = float(value)
            row.text = str(value) if abs(value) > EXACT_INTEGER else None
        case str():
            row.text = value
        case datetime():
            row.text = value.isoformat(timespec="microseconds")
        case FileValue():
            row.text = value.digest
        case _:
            row.items = list(value)
    return row
