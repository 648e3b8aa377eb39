"""One named thing of a run, as the user holds it: `run["train/loss"]`."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime
from itertools import islice
from os import PathLike
from time import time_ns
from typing import TYPE_CHECKING, Any

from seamark.errors import AgentError, UnsupportedValue
from seamark.recording.attributes import Recorder
from seamark.recording.record_writer import is_record
from seamark.recording.series import Point
from seamark.recording.values import to_microseconds, to_number, to_step

if TYPE_CHECKING:
    from seamark.run import Run

# A value, its step and its time, as they were given.
Row = tuple[object, float | None, float | datetime | None]


class Attribute:
    """A series to append to; single values are assigned: `run["seed"] = 1`.

    Holding on to it spares looking the name up at every step.
    """

    __slots__ = ("_name", "_recorder", "_run", "path")

    def __init__(self, run: Run, name: str, recorder: Recorder, path: str) -> None:
        """`name` is what the script calls it, and `path` what that comes to."""
        self._recorder = recorder
        self._run = run
        self._name = name
        self.path = path

    def append(
        self,
        value: object,
        step: float | None = None,
        time: float | datetime | None = None,
    ) -> None:
        """Append one point, text, histogram or picture to the series.

        Args:
            value: Anything that is one number: a float, a NumPy or PyTorch
                scalar, a boolean, a Decimal. NaN and infinities are kept.
                Or a text, up to 65,536 characters of which are kept; an
                `agent.Histogram`; or an `agent.Image`, a Matplotlib figure or a PIL
                image. A series holds one of the four.
            step: Orders the points; by default one more than the last step.
            time: When it was measured, as seconds since 1970 or a datetime, which
                without a time zone is in this machine's; by default now.
        """
        self._recorder.append(self.path, value, step, time)

    def extend(
        self,
        values: Iterable[object],
        steps: Iterable[float] | None = None,
        times: Iterable[float | datetime] | None = None,
    ) -> None:
        """Append many values; steps and times, where given, are as many as values.

        One that cannot be stored takes no other along.
        """
        self._recorder.check_open()
        try:
            rows = _rows(values, steps, times)
        except AgentError as error:
            self._recorder.refuse(error, self.path)
            return
        if not any(is_record(value) for value, _, _ in rows):
            with suppress(AgentError):
                self._recorder.extend(self.path, _points(rows))
                return
        # One by one: here each is refused by itself.
        for value, step, time in rows:
            self._recorder.append(self.path, value, step, time)

    def upload(
        self,
        content: object,
        *,
        name: str | None = None,
        media_type: str | None = None,
        wait: bool = False,
    ) -> bool:
        """Store a file here.

        A file of the disk is opened now and copied soon after, by another thread; if
        it is written to in place meanwhile, what counts is what it holds when it is
        copied. One that is replaced or deleted is still the one it was. Figures, images,
        arrays and bytes are as they are now.

        Args:
            content: A path, bytes, something to read from, a Matplotlib or Plotly
                figure, a PIL image, a data frame, or an array of pixels: floats from
                0 to 1, or integers from 0 to 255. Other ranges are scaled.
            name: What it is called when it is downloaded.
            media_type: What it holds; by default the name says it.
            wait: Return only when it is copied and survives the process, or nothing
                has moved for ten seconds, which is said. Delivery is not waited for.

        Returns:
            With `wait`, whether it is copied and may be deleted; a strict run raises
            otherwise. Without, False where it is known already that it is not stored.
        """
        return self._recorder.upload(
            self.path, content, name=name, media_type=media_type, wait=wait
        )

    def upload_files(self, pattern: str | PathLike[str], *, wait: bool = False) -> bool:
        """Store all files that a pattern names, or that lie in a folder, below here.

        Each is an attribute of its own, named as below the folder: of
        `run["model"].upload_files("checkpoints/*.pt")`, `model/last.pt`.

        Args:
            pattern: A folder, or a pattern with `*`, `?`, `[abc]` and `**`; looked for
                soon after the call, in the working directory of the call.
            wait: Return only when all are copied, or nothing has moved for ten seconds,
                which is said.

        Returns:
            As `upload`, of all of them.
        """
        return self._recorder.upload_files(self.path, pattern, wait=wait)

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel, as in a model that is copied, as what the run calls so."""
        return operator.getitem, (self._run, self._name)

    def __repr__(self) -> str:
        return f"<Attribute {self.path!a}>"


def _rows(
    values: Iterable[object],
    steps: Iterable[float] | None,
    times: Iterable[float | datetime] | None,
) -> list[Row]:
    """Return each value with its step and its time, or refuse them all."""
    listed = _listed(values, None, "has no values to append")
    columns = [
        [None] * len(listed)
        if column is None
        # One more than there may be shows that there are more.
        else _listed(column, len(listed) + 1, "has no steps or times")
        for column in (steps, times)
    ]
    for given, column in zip((steps, times), columns, strict=True):
        if len(column) != len(listed):
            raise UnsupportedValue(given, "must be as long as the values")
    return list(zip(listed, *columns, strict=True))


# Any: what is in them is looked at one by one, later.
def _listed(values: Iterable[Any], most: int | None, requirement: str) -> list[Any]:
    try:
        return list(islice(values, most))
    except Exception as error:
        # Their own code ran: a number has no elements, nor has a tensor of one.
        reason = f"{requirement} ({type(error).__name__})"
        raise UnsupportedValue(values, reason) from error


def _points(rows: list[Row]) -> list[Point]:
    now = time_ns() // 1_000
    return [
        (
            to_number(value),
            None if step is None else to_step(step),
            now if time is None else to_microseconds(time),
        )
        for value, step, time in rows
    ]
