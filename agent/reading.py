"""Reads back what is stored: runs of a project, their values, series and points.

Nothing here is for training loops: it asks the server and waits for the answer. pandas
and pyarrow are imported only where somebody asks for what they make.
"""

from __future__ import annotations

import csv
import io
import json
import math
import os
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from http.client import HTTPException
from typing import TYPE_CHECKING, Any, overload
from urllib.parse import urlencode
from uuid import UUID

from agent.downloads import StoredFile, StoredFiles
from agent.errors import CannotRead, InvalidSetting
from agent.settings import Server, find_server
from agent.stored_records import RECORD_KINDS, StoredRecords
from agent.version import VERSION

if TYPE_CHECKING:
    import pandas
    import pyarrow

_SECONDS = 60.0
_PAGE = 200
_MOST_COLUMNS = 50
_MOST_PATHS = 200
_MOST_FILES = 1_000
_BUSY_ATTEMPTS, _BUSY_SECONDS = 30, 2.0
# What reading fails with where there is no server, or something else in its place, or
# where an answer breaks off, which then says so in its last row.
_FAILURES = (OSError, HTTPException, ValueError, KeyError, StopIteration, csv.Error)

# Any: JSON.
Json = dict[str, Any]


def read_runs(
    query: str,
    *,
    project: str | None,
    sort: str,
    columns: Sequence[str],
    limit: int | None,
) -> Runs:
    """See `agent.runs`."""
    found = _project(project)
    if len(columns) > _MOST_COLUMNS:
        raise InvalidSetting("columns", f"must be at most {_MOST_COLUMNS}")
    asked = {"query": query, "sort": sort, "column": list(columns)}
    rows: list[StoredRun] = []
    cursor: str | None = ""
    while cursor is not None and (limit is None or len(rows) < limit):
        most = _PAGE if limit is None else min(_PAGE, limit - len(rows))
        page = found.ask("/runs", **asked, limit=most, cursor=cursor)
        rows += [_stored_run(found, row, columns) for row in page["runs"]]
        cursor = page["next"]
    return Runs(rows, tuple(columns))


def read_run(name: str, *, project: str | None) -> StoredRun:
    """See `agent.open_run`."""
    found = _project(project)
    row = _run_by_id(found, name)
    cursor: str | None = ""
    while row is None and cursor is not None:
        page = found.ask("/runs", search=name, limit=_PAGE, cursor=cursor)
        row = next((row for row in page["runs"] if row["name"] == name), None)
        cursor = page["next"]
    if row is None:
        raise CannotRead("not_found", f"{found} has no run {name!a}.")
    return _stored_run(found, row)


@dataclass(frozen=True)
class StoredRun:
    """A run as it was when it was read; `run[path]` is what it has there."""

    id: str
    name: str
    state: str
    started_at: datetime | None
    ended_at: datetime | None
    tags: tuple[str, ...]
    # Of the columns that were asked for; None where the run has nothing there.
    values: Mapping[str, object]
    _project: _Project = field(repr=False)

    def files(self, prefix: str = "") -> list[StoredFile]:
        """Return the files whose paths begin so."""
        found: list[StoredFile] = []
        cursor: str | None = ""
        while cursor is not None:
            page = _ask(
                self._project.server,
                f"/runs/{self.id}/files",
                prefix=prefix,
                cursor=cursor,
                limit=_MOST_FILES,
            )
            found += map(_stored_file, page["files"])
            cursor = page["next"] or None
        return found

    def attributes(self, prefix: str = "") -> dict[str, object]:
        """Return the values below a prefix by path; of a series, its last value."""
        return {row["path"]: _value(row) for row in self._attributes(prefix)}

    def series_paths(self, prefix: str = "") -> list[str]:
        """Return the paths of the run's series of numbers below a prefix."""
        rows = self._attributes(prefix)
        return [row["path"] for row in rows if row["kind"] == "float_series"]

    def __getitem__(self, path: str) -> Points | StoredRecords | StoredFiles | object:
        """Return what is at a path: a value, a series, a file, or all files below it."""
        path = path.strip("/")
        rows = self._attributes(path)
        row = next((row for row in rows if row["path"] == path), None)
        kind = "" if row is None else row["kind"]
        below = f"{path}/" if path else ""
        if kind == "file" or any(
            row["kind"] == "file" and row["path"].startswith(below) for row in rows
        ):
            return StoredFiles(path, list_files=self.files, read=self._open)
        if row is None:
            raise CannotRead("not_found", f"Run {self.name!a} has nothing at {path!a}.")
        if kind in RECORD_KINDS:
            return self.records(path)
        return self.points(path) if kind == "float_series" else _value(row)

    def records(
        self, path: str, *, low: float | None = None, high: float | None = None
    ) -> StoredRecords:
        """Return the texts or histograms of a series, in a range of steps."""

        def ask(**query: object) -> Json:
            return _ask(self._project.server, f"/runs/{self.id}/records", **query)

        return StoredRecords(ask, path, _given(low=low, high=high))

    def series(
        self,
        path: str,
        *,
        axis: str = "step",
        low: float | None = None,
        high: float | None = None,
        buckets: int = 500,
    ) -> Series:
        """Return a series in about as many buckets, which hide no extreme.

        Args:
            path: The series.
            axis: `step`, `time` (milliseconds since 1970) or `relative` (seconds since
                the run started).
            low: Where on the axis to begin; by default at the first point.
            high: Where to end, likewise.
            buckets: How many there may be; where points are few, each is one.
        """
        answer = self._project.ask(
            "/series",
            run=self.id,
            path=path,
            axis=axis,
            buckets=buckets,
            **_given(low=low, high=high),
        )
        (line,) = answer["series"]
        mean = _numbers(line["mean"])
        return Series(
            path=path,
            x=_numbers(line["x"]),
            mean=mean,
            minimum=mean if line["minimum"] is None else _numbers(line["minimum"]),
            maximum=mean if line["maximum"] is None else _numbers(line["maximum"]),
            count=line["count"],
            is_exact=line["exact"],
        )

    def points(
        self, *paths: str, low: float | None = None, high: float | None = None
    ) -> Points:
        """Return every point of series, by default of all, in a range of steps."""
        chosen = list(paths) or self.series_paths()
        return Points(self._project, self.id, chosen, _given(low=low, high=high))

    def _open(self, file: StoredFile) -> Any:  # what urllib opens
        place = f"/runs/{self.id}/files/content"
        asked = {"path": file.path, "digest": file.digest}
        for _ in range(_BUSY_ATTEMPTS):
            try:
                return _opened(self._project.server, place, asked)
            except CannotRead as error:
                # Others are just reading as many as the server sends at once.
                if error.code != "unavailable":
                    raise
            time.sleep(_BUSY_SECONDS)
        return _opened(self._project.server, place, asked)

    def _attributes(self, prefix: str) -> list[Json]:
        place = f"/runs/{self.id}/attributes"
        found: list[Json] = _ask(self._project.server, place, prefix=prefix)[
            "attributes"
        ]
        return found


def _stored_file(row: Json) -> StoredFile:
    return StoredFile(
        path=str(row["path"]),
        name=str(row["name"]),
        size=int(row["size"]),
        media_type=str(row["type"]),
        digest=str(row["digest"]),
        is_stored=bool(row["is_stored"]),
    )


@dataclass(frozen=True)
class Series:
    """A column for each of x, mean, minimum and maximum; `count` points are in them."""

    path: str
    x: list[float]
    mean: list[float]
    minimum: list[float]
    maximum: list[float]
    count: int
    is_exact: bool

    def __len__(self) -> int:
        return len(self.x)

    def to_pandas(self) -> pandas.DataFrame:
        """Return a data frame with these columns; needs pandas."""
        import pandas as pd  # noqa: PLC0415 - only for whoever has it

        columns = ("x", "mean", "minimum", "maximum")
        return pd.DataFrame({name: getattr(self, name) for name in columns})


class Points:
    """Every point of some series of a run, read when it is asked for."""

    def __init__(
        self, project: _Project, run_id: str, paths: Sequence[str], given: Json
    ) -> None:
        self._project = project
        self._run_id = run_id
        # Of a series that does not exist, a table still has its columns.
        self._paths = paths or ["-"]
        self._given = given

    def __iter__(self) -> Iterator[tuple[str, float, datetime, float]]:
        """Yield the path, step, time and value of each point, path by path."""
        for paths, answer in self._answers("csv"):
            # So a spreadsheet takes none of them for a formula.
            quoted = {f"'{path}": path for path in paths}
            with _told(self._project.server):
                rows = csv.reader(io.TextIOWrapper(answer, "utf-8", newline=""))
                next(rows)
                for _, name, step, moment, value in rows:
                    path = name if name in paths else quoted[name]
                    yield path, float(step), _moment(moment), float(value)

    def to_arrow(self) -> pyarrow.Table:
        """Return a table with the columns run, path, step, time and value."""
        import pyarrow as pa  # noqa: PLC0415 - only for whoever has it

        tables = []
        for _, answer in self._answers("arrow"):
            with _told(self._project.server):
                tables.append(pa.ipc.open_stream(answer).read_all())
        return pa.concat_tables(tables)

    def to_pandas(self) -> pandas.DataFrame:
        """Return the same as a data frame; needs pandas and pyarrow."""
        return self.to_arrow().to_pandas()

    # Any: what urllib opens.
    def _answers(self, kind: str) -> Iterator[tuple[set[str], Any]]:
        """Yield some of the paths, and the answer that holds their points."""
        for start in range(0, len(self._paths), _MOST_PATHS):
            paths = self._paths[start : start + _MOST_PATHS]
            asked = {"run": self._run_id, "path": paths, "format": kind, **self._given}
            with _opened(self._project.server, f"{self._project}/points", asked) as a:
                yield {*paths}, a


class Runs(Sequence[StoredRun]):
    """Runs in the order that was asked for."""

    def __init__(self, rows: Sequence[StoredRun], columns: tuple[str, ...]) -> None:
        self._rows = rows
        self._columns = columns

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, place: int) -> StoredRun: ...
    @overload
    def __getitem__(self, place: slice) -> Runs: ...
    def __getitem__(self, place: int | slice) -> StoredRun | Runs:
        """Return a run, or some of them."""
        if isinstance(place, slice):
            return Runs(self._rows[place], self._columns)
        return self._rows[place]

    def __repr__(self) -> str:
        return f"<{len(self)} runs>"

    def to_pandas(self) -> pandas.DataFrame:
        """Return a data frame with a row for each run; needs pandas."""
        import pandas as pd  # noqa: PLC0415 - only for whoever has it

        return pd.DataFrame(self._records(), columns=[*_RUN_COLUMNS, *self._columns])

    def _records(self) -> list[Json]:
        return [
            {**{name: getattr(row, name) for name in _RUN_COLUMNS}, **row.values}
            for row in self._rows
        ]


_RUN_COLUMNS = ("id", "name", "state", "started_at", "ended_at", "tags")


@dataclass(frozen=True)
class _Project:
    server: Server
    workspace: str
    slug: str

    def __str__(self) -> str:
        return f"/projects/{self.workspace}/{self.slug}"

    def ask(self, place: str, **query: object) -> Json:
        return _ask(self.server, f"{self}{place}", **query)


def _project(wanted: str | None) -> _Project:
    server = find_server(os.environ)
    if server is None:
        raise InvalidSetting(
            "SEAMARK_URL",
            "and SEAMARK_TOKEN must be set, or a server run on this machine",
        )
    name = wanted or os.environ.get("SEAMARK_PROJECT") or "default"
    found = [
        _Project(server, row["workspace"], row["slug"])
        for row in _ask(server, "/projects")["projects"]
        if name in (row["name"], row["slug"], f"{row['workspace']}/{row['slug']}")
    ]
    if not found:
        raise CannotRead("not_found", f"{server.url} has no project {name!a}.")
    if len(found) > 1:
        names = ", ".join(f"{one.workspace}/{one.slug}" for one in found)
        raise CannotRead("ambiguous", f"There are several: {names}.")
    return found[0]


def _run_by_id(project: _Project, name: str) -> Json | None:
    try:
        return _ask(project.server, f"/runs/{UUID(name)}")
    except ValueError:
        return None  # it is no id
    except CannotRead as error:
        if error.code == "not_found":
            return None
        raise


def _stored_run(project: _Project, row: Json, columns: Sequence[str] = ()) -> StoredRun:
    values = [cell and _value(cell) for cell in row.get("attributes", [])]
    return StoredRun(
        id=row["id"],
        name=row["name"],
        state=row["state"],
        started_at=_moment(row["started_at"]) if row["started_at"] else None,
        ended_at=_moment(row["ended_at"]) if row.get("ended_at") else None,
        tags=tuple(row["tags"]),
        values=dict(zip(columns, values, strict=False)),
        _project=project,
    )


def _ask(server: Server, place: str, **query: object) -> Json:
    with _opened(server, place, query) as answer, _told(server):
        found: Json = json.loads(answer.read())
    return found


# Any: what urllib opens.
def _opened(server: Server, place: str, query: Mapping[str, object]) -> Any:
    request = urllib.request.Request(
        f"{server.url}/api/v1{place}?{urlencode(query, doseq=True)}",
        headers={
            "Authorization": f"Bearer {server.token}",
            "User-Agent": f"seamark-agent/{VERSION}",
        },
    )
    with _told(server):
        return _opener.open(request, timeout=_SECONDS)


@contextmanager
def _told(server: Server) -> Iterator[None]:
    """Say what a server refused, and whatever else becomes of a question to it."""
    try:
        yield
    except urllib.error.HTTPError as error:
        with error:
            raise _refusal(server, error.code, error.read(65_536)) from None
    except _FAILURES as error:
        raise CannotRead(
            "no_answer", f"{server.url} does not answer, or broke off ({error})."
        ) from error


def _refusal(server: Server, status: int, body: bytes) -> CannotRead:
    try:
        said = json.loads(body)["error"]
        return CannotRead(str(said["code"]), str(said["message"]))
    except (ValueError, TypeError, KeyError):
        return CannotRead("no_answer", f"{server.url} answers {status}.")


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    # Any: as urllib declares it.
    def redirect_request(self, *_: Any) -> None:
        """Follow none: the token is for the server of the settings alone."""


_opener = urllib.request.build_opener(_NoRedirects)


def _given(**options: float | None) -> Json:
    return {name: value for name, value in options.items() if value is not None}


def _value(row: Json) -> object:
    value, kind = row["value"], row["kind"]
    if isinstance(value, str):
        if kind in ("float", "float_series"):
            return _number(value)
        if kind == "integer":
            return int(value)
        if kind == "datetime":
            return _moment(value)
    return frozenset(value) if isinstance(value, list) else value


def _numbers(column: Sequence[float | str]) -> list[float]:
    return [_number(value) for value in column]


def _number(value: float | str) -> float:
    """Return a number that JSON cannot hold, too: NaN or an infinity as text."""
    return float(value) if value is not None else math.nan


def _moment(text: str) -> datetime:
    # Python 3.10 does not read the Z.
    return datetime.fromisoformat(text.replace("Z", "+00:00"))
