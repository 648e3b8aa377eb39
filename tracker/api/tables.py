"""Tables as downloads: CSV or Arrow, streamed if they are long."""

from __future__ import annotations

import logging
from collections.abc import Generator, Iterator, Mapping
from threading import BoundedSemaphore
from typing import Any, TypeVar

import numpy as np
from django.http import HttpResponseBase

from tracker.errors import Unavailable
from tracker.queries.series.all_points import Part
from tracker.series.tables import ArrowTable, CsvTable, Table

logger = logging.getLogger(__name__)

CSV, ARROW = "csv", "arrow"
CONTENT_TYPES = {
    CSV: "text/csv; charset=utf-8",
    ARROW: "application/vnd.apache.arrow.stream",
}
ENDINGS = {CSV: "csv", ARROW: "arrows"}
COLUMNS: dict[str, type[Any]] = {
    "run": str,
    "path": str,
    "step": float,
    "time": np.datetime64,
    "value": float,
}
# Each occupies a server thread for the length of the download. Together with body
# readers (bodies.py and web/bodies.py) fewer than the threads.
EXPORTS_AT_ONCE = 2
WAIT_SECONDS = 0.5

Response = TypeVar("Response", bound=HttpResponseBase)

_exports = BoundedSemaphore(EXPORTS_AT_ONCE)


class Export:
    """A response streamed at the client's speed, with limited concurrency.

    A class, because closing a generator that never started runs no code of it.
    """

    def __init__(self, made: Generator[bytes]) -> None:
        if not _exports.acquire(timeout=WAIT_SECONDS):
            raise Unavailable
        self._is_open = True
        self._bytes = made

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        try:
            return next(self._bytes)
        except StopIteration:
            self.close()
            raise

    def close(self) -> None:
        self._bytes.close()
        if self._is_open:
            self._is_open = False
            _exports.release()


def written_points(parts: Iterator[Part], kind: str) -> Generator[bytes]:
    """Return the bytes of a table of all points."""
    return _written(parts, new_table(kind, COLUMNS))


def new_table(kind: str, columns: Mapping[str, type[Any]]) -> Table:
    return ArrowTable(columns) if kind == ARROW else CsvTable(columns)


def download(response: Response, kind: str, name: str) -> Response:
    response["Content-Type"] = CONTENT_TYPES[kind]
    response["Content-Disposition"] = f'attachment; filename="{name}.{ENDINGS[kind]}"'
    return response


def _written(parts: Iterator[Part], table: Table) -> Generator[bytes]:
    is_complete = False
    try:
        for part in parts:
            yield table.add(
                {
                    "run": str(part.run.id),
                    "path": part.path,
                    "step": part.points.steps,
                    "time": part.points.times.view("<M8[us]"),
                    "value": part.points.values,
                }
            )
        is_complete = True
    except Exception:
        # The response has started, so the client sees no error from granian.
        logger.exception("an export ended early")
    yield table.end(is_complete=is_complete)
