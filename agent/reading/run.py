"""A stored run and its attributes."""

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

# Kinds that can be downloaded.
_FILES = ("file", "image_series", "file_series")
_MAX_FILES = 1_000
_MAX_ATTRIBUTES = 10_000
_MAX_NAMED = 3


@dataclass(frozen=True, eq=False)
class StoredRun:
    """A snapshot of a stored run; `run[path]` reads its attributes.

    Two objects are equal if they are the same run of one server.
    """

    id: str
    name: str
    state: str
    started_at: datetime | None
    ended_at: datetime | None
    # Time in which stages ran, without pauses; None if unknown.
    duration_seconds: float | None
    tags: tuple[str, ...]
    # Values of the requested columns; None if the run has no such attribute.
    values: Mapping[str, object]
    _project: StoredProject = field(repr=False)

    def __eq__(self, other: object) -> bool:
        """Return whether it is the same run of the same server."""
        if not isinstance(other, StoredRun):
            return NotImplemented
        return (self.id, self.server) == (other.id, other.server)

    def __hash__(self) -> int:
        """Return a hash that is equal for equal runs."""
        return hash((self.id, self.server))

    @property
    def server(self) -> str:
        """The URL of the server that it was read from."""
        return self._project.server.url

    @property
    def project(self) -> str:
        """Workspace and project, separated by a slash."""
        return self._project.qualified

    def files(self, prefix: str = "") -> list[StoredFile]:
        """Return the files whose paths begin with a prefix."""
        found: list[StoredFile] = []
        cursor: str | None = ""
        while cursor is not None:
            query = {"prefix": prefix, "cursor": cursor, "limit": _MAX_FILES}
            place = f"/runs/{self.id}/files"
            files, cursor = ask(self._project.server, place, _page_of_files, query)
            found += files
        return found

    def attributes(self, prefix: str = "") -> dict[str, object]:
        """Return the values under a prefix by path; for a series, its last value."""
        return {row["path"]: to_value(row) for row in self.attribute_rows(prefix)}

    def series_paths(self, prefix: str = "") -> list[str]:
        """Return the paths of the run's series of numbers under a prefix."""
        rows = self.attribute_rows(prefix)
        return [row["path"] for row in rows if row["kind"] == "float_series"]

    def __getitem__(self, path: str) -> Points | StoredRecords | StoredFiles | object:
        """Return the value, series or file at a path, otherwise the files under it."""
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
        """Return the texts, histograms or images of a series, in a range of steps."""

        def read(query: Json) -> Page:
            place = f"/runs/{self.id}/records"
            return ask(self._project.server, place, page_of, query)

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
        """Return a series downsampled to buckets that keep its extremes.

        Args:
            path: The series.
            axis: `step`, `time` (milliseconds since 1970) or `relative` (seconds since
                the run started).
            low: The start of the range on the axis, by default the first point; on the
                axis `time` also a datetime.
            high: The end of the range, in the same form.
            buckets: The approximate maximum number of buckets; if there are few points,
                each has its own.

        Raises:
            CannotRead: The run has no such series, or the server rejected the request.
            ValueError: A datetime is used with an axis other than `time`.
            UnsupportedValue: A datetime is before 1970.
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
        """Return every point of some or all series, in a range as for `series`.

        Reading them raises CannotRead if the run has no series at one of the paths.
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
        """Return every point of exactly these series, possibly none."""
        query = given_range(axis, low, high)
        return Points(self._project, self.id, paths, query, check=self._check_series)

    def last_seen_at(self) -> str:
        """Return when data of the run last arrived, as text.

        While a run logs, this is a few seconds old.
        """
        return self._ask(lambda run: str(run["last_seen_at"]))

    def waiting_points(self) -> int | None:
        """Return how many of the run's points are not yet in a run summary.

        None if the server is too old to report it.
        """
        return self._ask(lambda run: run.get("waiting_points"))

    def version(self) -> str | None:
        """Return the run's ETag, which changes when data of the run arrives.

        None if a proxy removes it.
        """
        # Every response about points has it; this request reads none.
        query = {"path": NO_SERIES, "buckets": 1}
        place = f"/runs/{self.id}/series"
        with opened(self._project.server, place, query) as answer:
            found: str | None = answer.headers.get("ETag")
        return found

    def attribute_rows(self, prefix: str = "") -> list[Json]:
        """Return the attributes under a prefix as API objects."""
        place = f"/runs/{self.id}/attributes"
        found: list[Json] = []
        cursor: str | None = ""
        while cursor is not None:
            query = {"prefix": prefix, "cursor": cursor, "limit": _MAX_ATTRIBUTES}
            rows, cursor = ask(self._project.server, place, _page_of_attributes, query)
            found += rows
        return found

    def open_file(self, file: StoredFile) -> Any:  # an urllib response
        """Open the response with a file's content; `run[path].download()` writes it."""
        place = f"/runs/{self.id}/files/content"
        query = {"path": file.path, "digest": file.digest}
        return opened(self._project.server, place, query)

    def _ask(self, take: Callable[[Json], Taken]) -> Taken:
        return ask(self._project.server, f"/runs/{self.id}", take)

    def _check_series(self, paths: Collection[str]) -> None:
        """Raise CannotRead for paths at which the run has no series of numbers."""
        if not paths:
            return
        # Requested once, by their common prefix.
        prefix = commonprefix([*paths])  # noqa: RUF071 - it may end within a part
        rows = self.attribute_rows(prefix)
        kinds = {row["path"]: row["kind"] for row in rows}
        for path in sorted(paths):
            kind = kinds.get(path)
            if kind != "float_series":
                raise CannotRead("not_found", self._why_no_series(path, kind))

    def _why_no_series(self, path: str, kind: str | None) -> str:
        problem = f"Run {self.name!a} has no series of numbers at {path!a}"
        if kind is not None:
            return f"{problem}, but a {kind}, which run[{path!a}] reads."
        near = difflib.get_close_matches(path, self.series_paths(), n=_MAX_NAMED)
        return f"{problem}{'; there are: ' if near else ''}{', '.join(near)}."


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
    # Older servers return all attributes at once.
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
