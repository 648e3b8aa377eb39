"""Series of numbers of a stored run: in buckets, or every point."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from seamark.errors import CannotRead
from seamark.reading.client import BUSY, Json, opened, translated_errors
from seamark.reading.project import StoredProject
from seamark.reading.values import to_moment

if TYPE_CHECKING:
    import pandas
    import pyarrow

# Limits of one request; proxies accept URLs of 8 KiB in total.
_MAX_PATHS, _MAX_CHARACTERS = 200, 4_000

# A name that no series can have; the table of its points has columns but no rows.
NO_SERIES = "/"

# Open responses with tables that this process is reading.
_being_read: list[Any] = []


@dataclass(frozen=True)
class Series:
    """A downsampled series with columns x, mean, minimum, maximum; `count` is its
    points.
    """

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
        import pandas as pd  # noqa: PLC0415 - an optional package

        return pd.DataFrame(self._columns())

    def to_arrow(self) -> pyarrow.Table:
        """Return a table with these columns; needs pyarrow."""
        import pyarrow as pa  # noqa: PLC0415 - an optional package

        return pa.table(self._columns())

    def _columns(self) -> dict[str, list[float]]:
        names = ("x", "mean", "minimum", "maximum")
        return {name: getattr(self, name) for name in names}


class Points:
    """Every point of some series of a run, read on demand."""

    def __init__(
        self,
        project: StoredProject,
        run_id: str,
        paths: Sequence[str],
        given: Json,
        *,
        check: Callable[[Collection[str]], None],
    ) -> None:
        self._project = project
        self._run_id = run_id
        self._paths = paths
        self._given = given
        # Raises for paths without a series.
        self._check = check

    def __iter__(self) -> Iterator[tuple[str, float, datetime, float]]:
        """Yield the path, step, time and value of each point, path by path."""
        for paths, answer in self._responses("csv"):
            empty = {*paths}
            # The server quotes such names, so that a spreadsheet does not read them as
            # formulas.
            quoted = {f"'{path}": path for path in paths}
            with translated_errors(self._project.server.url):
                rows = csv.reader(io.TextIOWrapper(answer, "utf-8", newline=""))
                next(rows)
                for _, name, step, moment, value in rows:
                    path = name if name in paths else quoted[name]
                    empty.discard(path)
                    yield path, float(step), to_moment(moment), float(value)
            self._check(empty)

    def to_arrow(self) -> pyarrow.Table:
        """Return a table with the columns run, path, step, time and value; needs
        pyarrow.
        """
        import pyarrow as pa  # noqa: PLC0415 - an optional package

        tables = []
        for paths, answer in self._responses("arrow"):
            with translated_errors(self._project.server.url):
                table = pa.ipc.open_stream(answer).read_all()
            self._check(paths - _paths_in(table))
            tables.append(table)
        return pa.concat_tables(tables)

    def batches(self) -> Iterator[pyarrow.RecordBatch]:
        """Yield the rows of that table as they arrive; needs pyarrow."""
        import pyarrow as pa  # noqa: PLC0415 - an optional package

        for paths, answer in self._responses("arrow"):
            empty = {*paths}
            with translated_errors(self._project.server.url):
                for batch in pa.ipc.open_stream(answer):
                    empty -= _paths_in(batch)
                    yield batch
            self._check(empty)

    def to_pandas(self) -> pandas.DataFrame:
        """Return the same as a data frame; needs pandas and pyarrow."""
        return self.to_arrow().to_pandas()

    # Any: an urllib response.
    def _responses(self, kind: str) -> Iterator[tuple[set[str], Any]]:
        """Yield groups of paths, each with the response that holds their points."""
        for paths in _divided(self._paths or [NO_SERIES]):
            query = {"run": self._run_id, "path": paths, "format": kind, **self._given}
            with _table(self._project, query) as answer:
                yield {*paths} & {*self._paths}, answer


@contextmanager
def _table(project: StoredProject, query: Json) -> Iterator[Any]:
    """Open a table of points; the server limits the number of open tables."""
    try:
        answer = opened(project.server, f"{project}/points", query)
    except CannotRead as error:
        if error.code in BUSY and _being_read:
            raise _in_its_own_way(error) from error
        raise
    _being_read.append(answer)
    try:
        with answer:
            yield answer
    finally:
        _being_read.remove(answer)


def _in_its_own_way(error: CannotRead) -> CannotRead:
    """Add to a busy error that this process itself may be using the server's slots."""
    return CannotRead(
        error.code,
        f"{error} This process has {len(_being_read)} open table(s); each uses one "
        "of the server's few slots: read one table at a time, or close tables that "
        "you do not read to the end.",
        retry_after=error.retry_after,
    )


# Any: a pyarrow table or record batch.
def _paths_in(table: Any) -> set[str]:
    return {*table.column("path").unique().to_pylist()}


def _divided(paths: Sequence[str]) -> Iterator[list[str]]:
    """Yield groups of paths that fit into a URL, each with at least one path."""
    some: list[str] = []
    size = 0
    for path in paths:
        own = len(urlencode({"path": path})) + 1
        if some and (len(some) == _MAX_PATHS or size + own > _MAX_CHARACTERS):
            yield some
            some, size = [], 0
        some.append(path)
        size += own
    if some:
        yield some
