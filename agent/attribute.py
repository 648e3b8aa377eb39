"""One attribute of a run as the user handles it: `run["train/loss"]`."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
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

# A value, its step and its time, as passed by the user.
Row = tuple[object, float | None, float | datetime | None]


class Attribute:
    """A series to append to; single values are assigned: `run["seed"] = 1`.

    Keep a reference to it to avoid a name lookup at every step.
    """

    __slots__ = ("_name", "_recorder", "_run", "path")

    def __init__(self, run: Run, name: str, recorder: Recorder, path: str) -> None:
        """Create it; `name` is the name in the script, and `path` the resulting full
        path.
        """
        self._recorder = recorder
        self._run = run
        self._name = name
        self.path = path

    def append(
        self,
        value: object,
        step: float | None = None,
        time: float | datetime | None = None,
        *,
        captions: Sequence[str] | str | None = None,
    ) -> None:
        """Append one point, text, histogram, image or list of images to the series.

        Args:
            value: Any single number: a float, a NumPy or PyTorch
                scalar, a boolean, a Decimal. NaN and infinities are kept.
                Or a text, truncated to 65,536 characters; an
                `agent.Histogram`; or an `agent.Image`, a Matplotlib figure or a PIL
                image, or a list of up to 100 of them or of arrays of pixels. A series
                holds one of these four kinds.
            step: Orders the points; by default one more than the last step.
            time: When it was measured, as seconds since 1970 or a datetime (local time if
                it has no time zone); by default now.
            captions: Texts below the images, one for each.
        """
        if captions is None:
            self._recorder.append(self.path, value, step, time)
        else:
            self._recorder.append_captioned(self.path, value, captions, step, time)

    def extend(
        self,
        values: Iterable[object],
        steps: Iterable[float] | None = None,
        times: Iterable[float | datetime] | None = None,
    ) -> None:
        """Append many values; `steps` and `times`, if given, have the same length.

        An invalid value is rejected alone; the others are stored.
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
        # One by one, so that each invalid value is rejected alone.
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
        """Store a file at this path.

        A file on disk is opened now and copied soon after by another thread. If it is
        modified in place before the copy, the modified content is stored; replacing or
        deleting it has no effect. Figures, images, arrays and bytes are stored as they
        are now.

        Args:
            content: A path, bytes, a readable object, a Matplotlib or Plotly
                figure, a PIL image, a data frame, or an array of pixels: floats from
                0 to 1, or integers from 0 to 255. Other ranges are scaled.
            name: The file name for downloads.
            media_type: The media type; by default guessed from the name.
            wait: Return only when the copy is complete and survives the process, or,
                with a warning, after ten seconds without progress. Does not wait for
                delivery.

        Returns:
            With `wait`, whether the file is copied and may be deleted; a strict run raises
            an error instead of returning False. Without `wait`, False if the file is
            already known not to be stored.
        """
        return self._recorder.upload(
            self.path, content, name=name, media_type=media_type, wait=wait
        )

    def upload_files(self, pattern: str | PathLike[str], *, wait: bool = False) -> bool:
        """Store all files that match a pattern or lie in a folder, under this path.

        Each becomes an attribute named by its path in the folder:
        `run["model"].upload_files("checkpoints/*.pt")` stores `model/last.pt`.

        Args:
            pattern: A folder, or a pattern with `*`, `?`, `[abc]` and `**`; resolved
                soon after the call, in the working directory of the call.
            wait: Return only when all are copied, or, with a warning, after ten seconds
                without progress.

        Returns:
            As for `upload`, for all files together.
        """
        return self._recorder.upload_files(self.path, pattern, wait=wait)

    def __reduce__(self) -> tuple[Any, ...]:
        """Support copies and pickles, for example of a model that holds it."""
        return operator.getitem, (self._run, self._name)

    def __repr__(self) -> str:
        return f"<Attribute {self.path!a}>"


def _rows(
    values: Iterable[object],
    steps: Iterable[float] | None,
    times: Iterable[float | datetime] | None,
) -> list[Row]:
    """Return each value with its step and its time, or raise for all of them."""
    listed = _listed(values, None, "has no values to append")
    columns = [
        [None] * len(listed)
        if column is None
        # One more than allowed is enough to detect that the lengths differ.
        else _listed(column, len(listed) + 1, "has no steps or times")
        for column in (steps, times)
    ]
    for given, column in zip((steps, times), columns, strict=True):
        if len(column) != len(listed):
            raise UnsupportedValue(given, "must be as long as the values")
    return list(zip(listed, *columns, strict=True))


# Any: the elements are checked one by one, later.
def _listed(values: Iterable[Any], most: int | None, requirement: str) -> list[Any]:
    try:
        return list(islice(values, most))
    except Exception as error:
        # User code ran: a number is not iterable, nor is a zero-dimensional tensor.
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
