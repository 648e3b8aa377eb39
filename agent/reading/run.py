"""A stored run: what it has at its paths."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from os.path import commonprefix
from typing import Any

from seamark.errors import CannotRead
from seamark.reading.client import Json, Taken, ask, opened, rows_of
from seamark.reading.downloads import StoredFile, StoredFiles
from seamark.reading.project import StoredProject
from seamark.reading.records import RECORD_KINDS, Page, StoredRecords, page_of
from seamark.reading.series import NO_SERIES, Points, Series
from seamark.reading.values import (
    Edge,
    given,
    given_range,
    to_moment,
    to_numbers,
    to_value,
)

# Kinds of what is downloaded.
_FILES = ("file", "image_series")
_MAX_FILES = 1_000
_MAX_ATTRIBUTES = 10_000
_MAX_NAMED = 3


@dataclass(frozen=True, eq=False)
class StoredRun:
    """A run as it was when it was read; `run[path]` is what it has there.

    Two are equal that are the same run of one server, whenever each was read.
    """

    id: str
    name: str
    state: str
    started_at: datetime | None
    ended_at: datetime | None
    # In which its processes ran, without pauses between them; None: unknown.
    duration_seconds: float | None
    tags: tuple[str, ...]
    # Of the columns that were asked for; None where the run has nothing there.
    values: Mapping[str, object]
    _project: StoredProject = field(repr=False)

    def __eq__(self, other: object) -> bool:
        """Whether it is the same run, of the same server."""
        if not isinstance(other, StoredRun):
            return NotImplemented
        return (self.id, self.server) == (other.id, other.server)

    def __hash__(self) -> int:
        """Return what is the same of equal ones."""
        return hash((self.id, self.server))

    @property
    def server(self) -> str:
        """The address of the server that it was read from."""
        return self._project.server.url

    @property
    def project(self) -> str:
        """Workspace and project, with a slash between."""
        return self._project.qualified

    def files(self, prefix: str = "") -> list[StoredFile]:
        """Return the files whose paths begin so."""
        found: list[StoredFile] = []
        cursor: str | None = ""
        while cursor is not None:
            asked = {"prefix": prefix, "cursor": cursor, "limit": _MAX_FILES}
            place = f"/runs/{self.id}/files"
            files, cursor = ask(self._project.server, place, _page_of_files, asked)
            found += files
        return found

    def attributes(self, prefix: str = "") -> dict[str, object]:
        """Return the values below a prefix by path; of a series, its last value."""
        return {row["path"]: to_value(row) for row in self.attribute_rows(prefix)}

    def series_paths(self, prefix: str = "") -> list[str]:
        """Return the paths of the run's series of numbers below a prefix."""
        rows = self.attribute_rows(prefix)
        return [row["path"] for row in rows if row["kind"] == "float_series"]

    def __getitem__(self, path: str) -> Points | StoredRecords | StoredFiles | object:
        """Return what is at a path: a value, a series or a file; else files below it."""
        path = path.strip("/")
        rows = self.attribute_rows(path)
        row = next((row for row in rows if row["path"] == path), None)
        if row is None or row["kind"] in _FILES:
            below = f"{path}/" if path else ""
            if row is None and not any(
                row["kind"] in _FILES and row["path"].startswith(below) for row in rows
            ):
                raise CannotRead(
                    "not_found", f"Run {self.name!a} has nothing at {path!a}."
                )
            return StoredFiles(path, list_files=self.files, read=self.open_file)
        kind = row["kind"]
        if kind in RECORD_KINDS:
            return self.records(path)
        return self.points(path) if kind == "float_series" else to_value(row)

    def records(
        self, path: str, *, low: float | None = None, high: float | None = None
    ) -> StoredRecords:
        """Return the texts, histograms or pictures of a series, in a range of steps."""

        def read(asked: Json) -> Page:
            place = f"/runs/{self.id}/records"
            return ask(self._project.server, place, page_of, asked)

        return StoredRecords(read, path, given(low=low, high=high))

    def series(
        self,
        path: str,
        *,
        axis: str = "step",
        low: Edge | None = None,
        high: Edge | None = None,
        buckets: int = 500,
    ) -> Series:
        """Return a series in about as many buckets, which hide no extreme.

        Args:
            path: The series.
            axis: `step`, `time` (milliseconds since 1970) or `relative` (seconds since
                the run started).
            low: Where on the axis to begin, which is by default at the first point; of
                `time` a datetime, too.
            high: Where to end, likewise.
            buckets: How many there may be; where points are few, each is one.

        Raises:
            CannotRead: The run has no such series, or the server refused.
            ValueError: A datetime, and the axis is not `time`.
            UnsupportedValue: A datetime of before 1970.
        """

        def take(answer: Json) -> Series:
            (line,) = answer["series"]
            return _series(path, line)

        found = self._project.ask(
            "/series",
            take,
            run=self.id,
            path=path,
            buckets=buckets,
            **given_range(axis, low, high),
        )
        if not found.x:
            self._check_series([path])
        return found

    def points(
        self,
        *paths: str,
        axis: str = "step",
        low: Edge | None = None,
        high: Edge | None = None,
    ) -> Points:
        """Return every point of series, by default of all, in a range as `series` has it.

        Reading them raises CannotRead where the run has no series at one of the paths.
        """
        chosen = list(paths) or self.series_paths()
        return self.points_of(chosen, axis=axis, low=low, high=high)

    def points_of(
        self,
        paths: Sequence[str],
        *,
        axis: str = "step",
        low: Edge | None = None,
        high: Edge | None = None,
    ) -> Points:
        """Return every point of exactly these series, which may be none."""
        asked = given_range(axis, low, high)
        return Points(self._project, self.id, paths, asked, check=self._check_series)

    def last_seen_at(self) -> str:
        """Return when something of the run has arrived for the last time, as text.

        While a run logs, that is a few seconds behind.
        """
        return self._ask(lambda run: str(run["last_seen_at"]))

    def waiting_points(self) -> int | None:
        """Return how many of the run's points no summary counts yet.

        None where the server, of a version before, does not say.
        """
        return self._ask(lambda run: run.get("waiting_points"))

    def version(self) -> str | None:
        """Return a text that is another one once anything of the run has arrived.

        None where something between here and the server keeps it back.
        """
        # Every answer about points has it; for this one, no point is read.
        asked = {"path": NO_SERIES, "buckets": 1}
        place = f"/runs/{self.id}/series"
        with opened(self._project.server, place, asked) as answer:
            found: str | None = answer.headers.get("ETag")
        return found

    def attribute_rows(self, prefix: str = "") -> list[Json]:
        """Return what is known below a prefix, as the API answers it."""
        place = f"/runs/{self.id}/attributes"
        found: list[Json] = []
        cursor: str | None = ""
        while cursor is not None:
            asked = {"prefix": prefix, "cursor": cursor, "limit": _MAX_ATTRIBUTES}
            rows, cursor = ask(self._project.server, place, _page_of_attributes, asked)
            found += rows
        return found

    def open_file(self, file: StoredFile) -> Any:  # what urllib opens
        """Open what the server sends of a file; `run[path].download()` writes it."""
        place = f"/runs/{self.id}/files/content"
        asked = {"path": file.path, "digest": file.digest}
        return opened(self._project.server, place, asked)

    def _ask(self, take: Callable[[Json], Taken]) -> Taken:
        return ask(self._project.server, f"/runs/{self.id}", take)

    def _check_series(self, paths: Collection[str]) -> None:
        """Refuse paths at which the run has no series of numbers."""
        if not paths:
            return
        # Of many paths, what they have in common is asked for once.
        prefix = commonprefix([*paths])  # noqa: RUF071 - it may end within a part
        rows = self.attribute_rows(prefix)
        kinds = {row["path"]: row["kind"] for row in rows}
        for path in sorted(paths):
            kind = kinds.get(path)
            if kind != "float_series":
                raise CannotRead("not_found", self._why_no_series(path, kind))

    def _why_no_series(self, path: str, kind: str | None) -> str:
        said = f"Run {self.name!a} has no series of numbers at {path!a}"
        if kind is not None:
            return f"{said}, but a {kind}, which run[{path!a}] reads."
        near = difflib.get_close_matches(path, self.series_paths(), n=_MAX_NAMED)
        return f"{said}{'; there are: ' if near else ''}{', '.join(near)}."


def stored_run(
    project: StoredProject, row: Json, columns: Sequence[str] = ()
) -> StoredRun:
    values = [cell and to_value(cell) for cell in row.get("attributes", [])]
    return StoredRun(
        id=row["id"],
        name=row["name"],
        state=row["state"],
        started_at=to_moment(row["started_at"]) if row["started_at"] else None,
        ended_at=to_moment(row["ended_at"]) if row.get("ended_at") else None,
        duration_seconds=row.get("duration_seconds"),
        tags=tuple(row["tags"]),
        values=dict(zip(columns, values, strict=False)),
        _project=project,
    )


def _page_of_attributes(page: Json) -> tuple[list[Json], str | None]:
    rows = rows_of(page["attributes"], "path", "kind", "value", "updated_at")
    # Servers of before answer all at once.
    return rows, page.get("next") or None


def _series(path: str, line: Json) -> Series:
    mean = to_numbers(line["mean"])
    return Series(
        path=path,
        x=to_numbers(line["x"]),
        mean=mean,
        minimum=mean if line["minimum"] is None else to_numbers(line["minimum"]),
        maximum=mean if line["maximum"] is None else to_numbers(line["maximum"]),
        count=line["count"],
        is_exact=line["exact"],
    )


def _page_of_files(page: Json) -> tuple[list[StoredFile], str | None]:
    return [_stored_file(row) for row in page["files"]], page["next"] or None


def _stored_file(row: Json) -> StoredFile:
    return StoredFile(
        path=str(row["path"]),
        name=str(row["name"]),
        size=int(row["size"]),
        media_type=str(row["type"]),
        digest=str(row["digest"]),
        is_stored=bool(row["is_stored"]),
    )
