"""Turns rows of Neptune's export into points, texts, histograms and files of a run."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

from seamark.capture.screen import Line
from seamark.capture.texts import storable
from seamark.commands.importing.files import Importer, Point
from seamark.errors import AgentError
from seamark.importers.neptune.console import Lines, Stream, stream_of
from seamark.importers.neptune.contents import (
    HEAD_BYTES,
    PICTURES,
    SOUNDS,
    VIDEOS,
    extension_of,
)
from seamark.importers.neptune.export import Rows
from seamark.importers.neptune.hardware import hardware_of
from seamark.importers.problems import Problems
from seamark.path import clean_path
from seamark.recording.media.histogram import MAX_BINS, Histogram
from seamark.recording.media.media import Html, Image, Media
from seamark.recording.media.sounds import Audio, Video
from seamark.recording.values import LONGEST_TEXT, to_step, to_value

_FILES = frozenset({"file", "file_set", "artifact"})
_NANOSECONDS = 1_000  # of a microsecond


class Writer:
    """Writes the rows of one run."""

    def __init__(
        self,
        importer: Importer,
        folder: Path | None,
        *,
        began_at: int,
    ) -> None:
        """`folder` has the run's project's files; None to skip files."""
        self._importer = importer
        self._folder = folder
        self._began_at = began_at
        # Problems of the part that is being read.
        self.problems = Problems()
        # The process whose hardware metrics and console become those of the run.
        self._process = ""
        self._console: dict[Stream, Lines] = {}

    def write(self, rows: Rows) -> None:
        """Write rows of one attribute."""
        try:
            path = own_path(rows.path)
        except AgentError as error:
            self.problems.add(str(error), rows.numbers[0])
            return
        stream = stream_of(rows.path) if rows.kind == "string_series" else None
        if rows.kind == "float_series":
            self._write_numbers(path, rows)
        elif stream is not None and self._is_first(stream.process):
            self._write_console(stream, rows)
        elif rows.kind in _FILES:
            self._write_each(path, rows, self._store)
        elif rows.kind == "file_series":
            self._write_each(path, rows, self._append_file)
        else:
            make = _histogram if rows.kind == "histogram_series" else _text

            def append(
                path: str, value: object, step: float | None, moment: int
            ) -> None:
                self._importer.append(path, make(value), step, moment)

            self._write_each(path, rows, append)

    def finish(self) -> None:
        """Write the ends of the console's streams."""
        for stream, lines in self._console.items():
            self._append_lines(stream, lines.finish())

    def _is_first(self, process: str) -> bool:
        """Return whether a process is the run's first one.

        Later processes of the run, or those of other machines, keep their names.
        """
        self._process = self._process or process
        return process in ("", self._process)

    def _write_console(self, stream: Stream, rows: Rows) -> None:
        lines = self._console.setdefault(stream, Lines(stream))
        texts = [
            (self._moment(moment), storable(value))
            for moment, value in zip(rows.times, rows.values, strict=True)
            if value is not None
        ]
        self._append_lines(stream, lines.add(texts))

    def _append_lines(self, stream: Stream, lines: Iterable[Line]) -> None:
        path = f"{self._importer.settings.namespace}/{stream.name}"
        for line in lines:
            self._importer.append(path, line.text, None, line.time // _NANOSECONDS)

    def _write_numbers(self, path: str, rows: Rows) -> None:
        points: list[Point] = []
        factor = 1.0
        hardware = hardware_of(rows.path)
        if hardware is not None and self._is_first(hardware.process):
            factor = hardware.factor
            path = f"{self._importer.settings.namespace}/{hardware.path}"
        for number, step, moment, value in zip(
            rows.numbers, rows.steps, rows.times, rows.values, strict=True
        ):
            if value is None or step is None:
                cause = f"{rows.path[:60]!a} has a point without a value or a step"
                self.problems.add(cause, number)
                continue
            points.append((value * factor, step, self._moment(moment)))
        if points:
            self._importer.extend(path, points)

    def _write_each(
        self,
        path: str,
        rows: Rows,
        write: Callable[[str, Any, float | None, int], None],
    ) -> None:
        for number, step, moment, value in zip(
            rows.numbers, rows.steps, rows.times, rows.values, strict=True
        ):
            if value is None:
                continue
            try:
                write(
                    path,
                    value,
                    None if step is None else to_step(step),
                    self._moment(moment),
                )
            except (AgentError, OSError, ValueError) as error:
                cause = f"{rows.path[:60]!a} is skipped: {error}"
                self.problems.add(cause, number)

    def _store(self, path: str, value: Any, _step: float | None, _moment: int) -> None:
        if self._folder is None:
            return
        target = _inside(self._folder, value.get("path"))
        if target.is_dir():
            # A file set is a folder with one archive.
            for file in sorted(each for each in target.rglob("*") if each.is_file()):
                name = file.relative_to(target).as_posix()
                self._importer.attach(clean_path(f"{path}/{name}"), file, file.name)
            return
        self._importer.attach(path, target, _name(target))

    def _append_file(
        self, path: str, value: Any, step: float | None, moment: int
    ) -> None:
        if self._folder is None:
            return
        file = _inside(self._folder, value.get("path"))
        self._importer.append(path, _medium(file), step, moment)

    def _moment(self, moment: int | None) -> int:
        return self._began_at if moment is None else max(moment, 0)


def usable_values(
    values: Mapping[str, object], problems: Problems
) -> dict[str, object]:
    """Return the values that can be stored, by their paths in the run."""
    found: dict[str, object] = {}
    for number, (path, given) in enumerate(values.items(), 1):
        value = frozenset(map(str, given)) if isinstance(given, list) else given
        try:
            # Raises for values that cannot be stored.
            to_value(value)
            found[own_path(path)] = value
        except AgentError as error:
            problems.add(f"{path[:60]!a} is skipped: {error}", number)
    return found


def store_long_texts(
    importer: Importer, values: Mapping[str, object], problems: Problems
) -> dict[str, object]:
    """Store texts that are too long for values as files; return the other values."""
    others: dict[str, object] = {}
    for number, (path, value) in enumerate(values.items(), 1):
        if not isinstance(value, str) or len(value) <= LONGEST_TEXT:
            others[path] = value
            continue
        try:
            name = f"{path.rpartition('/')[2]}.txt"
            importer.attach(own_path(path), value.encode("utf-8", "replace"), name)
        except AgentError as error:
            problems.add(f"{path[:60]!a} is skipped: {error}", number)
    return others


def own_path(path: str) -> str:
    """Return the path in the run: `monitoring/` belongs to Seamark's own metrics."""
    is_monitored = path == "monitoring" or path.startswith("monitoring/")
    return clean_path(f"neptune/{path}" if is_monitored else path)


def _inside(folder: Path, path: object) -> Path:
    """Return a file of the export; raise ValueError for paths that lead elsewhere."""
    if not isinstance(path, str) or not path:
        raise ValueError("it was not downloaded")
    target = (folder / path).resolve()
    if not target.is_relative_to(folder.resolve()):
        raise ValueError("its path leads out of the export")
    if not target.exists():
        raise FileNotFoundError("its file is not in the export")
    return target


def _extension(file: Path) -> str:
    if file.suffix:
        return file.suffix.lower()
    with file.open("rb") as content:
        return extension_of(content.read(HEAD_BYTES))


def _name(file: Path) -> str:
    return file.name if file.suffix else f"{file.name}{_extension(file)}"


def _medium(file: Path) -> Media:
    extension, name = _extension(file), _name(file)
    if extension in PICTURES:
        return Image(str(file), name=name)
    if extension in SOUNDS:
        return Audio(str(file), name=name)
    if extension in VIDEOS:
        return Video(str(file), name=name)
    if extension in {".html", ".htm"}:
        return Html(file, name=name)
    return Media(str(file), name=name)


def _text(value: Any) -> str:
    text = str(value)
    if "\0" in text:
        raise ValueError("its text contains a NUL character")
    return text[:LONGEST_TEXT]


def _histogram(value: Any) -> Histogram:
    edges, counts = value.get("edges") or [], value.get("values") or []
    if None in edges or None in counts or len(edges) != len(counts) + 1 or not counts:
        raise ValueError("its histogram has not one edge more than values")
    if str(value.get("type") or "COUNTING").upper() != "COUNTING":
        # Densities: the share of each bin.
        counts = [
            (b - a) * density
            for (a, b), density in zip(pairwise(edges), counts, strict=True)
        ]
    if not all(map(math.isfinite, (*edges, *counts))) or min(counts) < 0:
        raise ValueError("its histogram has values that are not finite or negative")
    if not all(a < b for a, b in pairwise(edges)):
        raise ValueError("its histogram has edges that do not ascend")
    while len(counts) > MAX_BINS:
        counts = [sum(counts[place : place + 2]) for place in range(0, len(counts), 2)]
        edges = [*edges[:-1:2], edges[-1]]
    return Histogram(edges=edges, counts=counts)
