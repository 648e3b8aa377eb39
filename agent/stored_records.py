"""Texts and histograms as they are read back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas

RECORD_KINDS = ("text_series", "histogram_series", "image_series")
_PAGE = 10_000
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)

# Any: JSON.
Json = dict[str, Any]


@dataclass(frozen=True)
class StoredHistogram:
    """How many values lie between which edges; `others` are in no bin, as NaN is."""

    edges: list[float]
    counts: list[float]
    others: float


@dataclass(frozen=True)
class StoredImage:
    """Which content a picture of a series is, among `run.files(path)`."""

    digest: str
    size: int  # bytes
    type: str


class StoredRecords:
    """The records of a series in the order of their arrival, read when asked for."""

    def __init__(self, ask: Callable[..., Json], path: str, given: Json) -> None:
        self._ask = ask
        self._path = path
        self._given = given

    def __iter__(self) -> Iterator[tuple[float, datetime, object]]:
        """Yield step, time and value of each: a text, a histogram or a picture."""
        for page in self._pages():
            columns = (page["steps"], page["times"], page["values"])
            for step, milliseconds, value in zip(*columns, strict=True):
                yield float(step), _moment(milliseconds), _value(value)

    def to_pandas(self) -> pandas.DataFrame:
        """Return a data frame with the columns step, time and value; needs pandas."""
        import pandas as pd  # noqa: PLC0415 - only for whoever has it

        frame = pd.DataFrame([*self], columns=["step", "time", "value"])
        return frame.astype({"step": "float64", "time": "datetime64[us, UTC]"})

    def _pages(self) -> Iterator[Json]:
        position: int | None = 0
        while position is not None:
            page = self._ask(
                path=self._path, first=position, limit=_PAGE, **self._given
            )
            yield page
            position = page["next"]


def _moment(milliseconds: float) -> datetime:
    return _EPOCH + timedelta(microseconds=round(milliseconds * 1_000))


def _value(value: Any) -> object:
    if isinstance(value, dict) and "digest" in value:
        return StoredImage(**value)
    return StoredHistogram(**value) if isinstance(value, dict) else value
