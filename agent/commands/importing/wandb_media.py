"""Turns W&B's media into values that the SDK logs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from seamark.importers.problems import Problems
from seamark.importers.reading import Reading
from seamark.importers.wandb_media import Bins, Files, Kind, read_media
from seamark.recording.media.histogram import Histogram
from seamark.recording.media.media import Html, Image
from seamark.recording.media.sounds import Audio, Video
from seamark.recording.media.tables import Table

_LARGEST_TEXT = 32 << 20  # bytes of a table or of HTML
_UNREADABLE = (OSError, ValueError, RecursionError)
# A file's path, and the reason why it cannot be read.
_Missing = tuple[str, Exception]


def with_media(reading: Reading, folder: Path, problems: Problems) -> Reading:
    """Return the sample with its media as values of the SDK, without unreadable ones.

    `folder` is the run's folder `files`.
    """
    others: dict[str, object] = {}
    for path, value in reading.others.items():
        try:
            made, missing = _made(value, folder)
        except _UNREADABLE as error:
            problems.add(f"{path[:60]!a} is skipped: {_reason(error)}", _step(reading))
            continue
        if made is None:
            cause = (
                f"{path[:60]!a} is skipped: its type {_type(value)!a} cannot be read"
            )
            problems.add(cause, _step(reading))
        else:
            others[path] = made
        for file, reason in missing:
            cause = f"{file!a} of {path[:60]!a} is skipped: {_reason(reason)}"
            problems.add(cause, _step(reading))
    return reading._replace(others=others)


def _made(value: object, folder: Path) -> tuple[object, list[_Missing]]:
    """Return the SDK's value, and the files of several that it lacks."""
    if not isinstance(value, Mapping):
        return value, []
    found = read_media(value)
    if isinstance(found, Bins):
        return Histogram(edges=found.edges, counts=found.counts), []
    if found is None:
        return None, []
    values, missing = _media(found, folder)
    return (values[0] if len(values) == 1 else values), missing


def _media(found: Files, folder: Path) -> tuple[list[object], list[_Missing]]:
    """Return the readable files, and the others; raises if no file is readable."""
    values: list[object] = []
    missing: list[_Missing] = []
    for path, caption in zip(found.paths, found.captions, strict=True):
        try:
            values.append(_one(found.kind, _inside(folder, path), caption))
        except _UNREADABLE as error:  # noqa: PERF203 - one file must not cost the others
            missing.append((path, error))
    if not values:
        raise missing[0][1]
    return values, missing


def _one(kind: Kind, file: Path, caption: str) -> object:
    match kind:
        case Kind.IMAGE:
            return Image(str(file), caption=caption)
        case Kind.AUDIO:
            return Audio(str(file), caption=caption)
        case Kind.VIDEO:
            return Video(str(file), caption=caption)
        case Kind.HTML:
            return Html(_text(file), caption=caption)
        case Kind.TABLE:
            return _table(_text(file), caption)


def _table(text: str, caption: str) -> Table:
    # Any: JSON of strangers.
    found: Any = json.loads(text)
    columns, rows = found.get("columns"), found.get("data")
    if not (isinstance(columns, list) and isinstance(rows, list)):
        raise ValueError("it is not a table")  # noqa: TRY004 - damaged data
    cells = [[_cell(cell) for cell in row] for row in rows]
    return Table(cells, columns=[str(name) for name in columns], caption=caption)


def _cell(cell: object) -> object:
    return json.dumps(cell) if isinstance(cell, (dict, list)) else cell


def _inside(folder: Path, path: str) -> Path:
    """Return a file of the run; raise ValueError for paths that lead elsewhere."""
    file = (folder / path).resolve()
    if not file.is_relative_to(folder.resolve()):
        raise ValueError("its path leads out of the run's folder")
    if not file.is_file():
        raise FileNotFoundError("its file is not here")
    return file


def _text(file: Path) -> str:
    with file.open("rb") as content:
        data = content.read(_LARGEST_TEXT + 1)
    if len(data) > _LARGEST_TEXT:
        raise ValueError(f"its file is larger than {_LARGEST_TEXT >> 20} MiB")
    return data.decode("utf-8", "replace")


def _type(value: object) -> str:
    return str(value.get("_type"))[:60] if isinstance(value, Mapping) else ""


def _reason(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError | RecursionError):
        return "its file is damaged"
    return str(error)


def _step(reading: Reading) -> int:
    return int(reading.step or 0)
