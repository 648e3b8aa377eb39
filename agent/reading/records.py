"""Texts, histograms and pictures of a stored run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

from seamark.reading.client import Json

if TYPE_CHECKING:
    import pandas
    import pyarrow

RECORD_KINDS = ("text_series", "histogram_series", "image_series", "file_series")
_PAGE = 10_000
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)

# Step, time and value; a page also has the position of the next one.
Record = tuple[float, datetime, object]
Page = tuple[list[Record], int | None]


@dataclass(frozen=True)
class StoredHistogram:
    """Counts of values between edges; `others` counts those without a bin, such as NaN."""

    edges: list[float]
    counts: list[float]
    others: float


@dataclass(frozen=True)
class StoredImage:
    """A picture or another file of a series, by its digest among `run.files(path)`."""

    digest: str
    size: int  # bytes
    type: str
    caption: str = ""


class StoredRecords:
    """The records of a series in order of arrival, read on demand."""

    def __init__(self, read: Callable[[Json], Page], path: str, given: Json) -> None:
        self._read = read
        self._path = path
        self._given = given

    def __iter__(self) -> Iterator[Record]:
        """Yield step, time and value of each record: a text, a histogram or a picture."""
        position: int | None = 0
        while position is not None:
            query = {"path": self._path, "first": position, "limit": _PAGE}
            records, position = self._read({**query, **self._given})
            yield from records

    def to_arrow(self) -> pyarrow.Table:
        """Return a table with the columns step, time and value; needs pyarrow.

        A text value is a string; a histogram or a picture is a struct of its fields.
        """
        import pyarrow as pa  # noqa: PLC0415 - an optional package

        rows = [*self]
        times = pa.array([time for _, time, _ in rows], pa.timestamp("us", "UTC"))
        values = [_fields(value) for _, _, value in rows]
        steps = pa.array([step for step, _, _ in rows], pa.float64())
        return pa.table({"step": steps, "time": times, "value": values})

    def to_pandas(self) -> pandas.DataFrame:
        """Return a data frame with the columns step, time and value; needs pandas."""
        import pandas as pd  # noqa: PLC0415 - an optional package

        frame = pd.DataFrame([*self], columns=["step", "time", "value"])
        return frame.astype({"step": "float64", "time": "datetime64[us, UTC]"})


def page_of(answer: Json) -> Page:
    """Return the records of a response, and the position of the next page."""
    columns = (answer["steps"], answer["times"], answer["values"])
    records: list[Record] = [
        (float(step), _moment(milliseconds), _value(value))
        for step, milliseconds, value in zip(*columns, strict=True)
    ]
    return records, answer["next"]


def _moment(milliseconds: float) -> datetime:
    return _EPOCH + timedelta(microseconds=round(milliseconds * 1_000))


def _fields(value: object) -> object:
    kinds = (StoredHistogram, StoredImage)
    return asdict(value) if isinstance(value, kinds) else value


# Any: JSON.
def _value(value: Any) -> object:
    if not isinstance(value, dict):
        return value
    if "digest" in value:
        parts = (value["digest"], value["size"], value["type"])
        return StoredImage(*parts, value.get("caption", ""))
    return StoredHistogram(value["edges"], value["counts"], value["others"])
