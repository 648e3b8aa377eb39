"""One named thing of a run, as the user holds it: `run["train/loss"]`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from os import PathLike, fspath
from time import time_ns

from agent.errors import AgentError, UnsupportedValue
from agent.record_writer import NO_NUMBERS
from agent.recorder import Recorder
from agent.series_recorder import Point
from agent.values import to_microseconds, to_number, to_step


class Attribute:
    """A series to append to; single values are assigned: `run["seed"] = 1`.

    Holding on to it spares looking the name up at every step.
    """

    __slots__ = ("_recorder", "path")

    def __init__(self, recorder: Recorder, path: str) -> None:
        self._recorder = recorder
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
                Or a text, up to 65,536 characters of which are kept; or an
                `agent.Histogram` or an `agent.Image`. A series holds one of the four.
            step: Orders the points; by default one more than the last step.
            time: When it was measured, as seconds since 1970 or a datetime
                with a time zone; by default now.
        """
        self._recorder.append(self.path, value, step, time)

    def extend(
        self,
        values: Iterable[object],
        steps: Sequence[float] | None = None,
        times: Sequence[float | datetime] | None = None,
    ) -> None:
        """Append many values; steps and times, where given, are as many as values."""
        try:
            listed = list(values)
            _expect_as_long(listed, steps, times)
            if any(isinstance(value, NO_NUMBERS) for value in listed):
                for position, value in enumerate(listed):
                    step = None if steps is None else steps[position]
                    time = None if times is None else times[position]
                    self._recorder.append(self.path, value, step, time)
                return
            self._recorder.extend(self.path, _points(listed, steps, times))
        except AgentError as error:
            self._recorder.refuse(error, self.path)

    def upload(
        self,
        content: object,
        *,
        name: str | None = None,
        media_type: str | None = None,
        wait: bool = False,
    ) -> None:
        """Store a file here.

        A file of the disk is opened now and copied soon after, by another thread; if
        it is written to in place meanwhile, what counts is what it holds when it is
        copied. One that is replaced or deleted is still the one it was. Figures, images,
        arrays and bytes are as they are now.

        Args:
            content: A path, bytes, something to read from, a Matplotlib or Plotly
                figure, a PIL image, or an array of pixels: fractions between 0 and 1,
                or whole numbers up to 255.
            name: What it is called when it is downloaded.
            media_type: What it holds; by default the name says it.
            wait: Return only when it is copied and survives the process. Delivery
                is not waited for.
        """
        self._recorder.upload(
            self.path, content, name=name, media_type=media_type, wait=wait
        )

    def upload_files(self, pattern: str | PathLike[str], *, wait: bool = False) -> None:
        """Store all files that a pattern names, or that lie in a folder, below here.

        Each is an attribute of its own, named as below the folder: of
        `run["model"].upload_files("checkpoints/*.pt")`, `model/last.pt`.

        Args:
            pattern: A folder, or a pattern with `*`, `?`, `[abc]` and `**`; looked for
                soon after the call.
            wait: Return only when all are copied.
        """
        self._recorder.upload_files(self.path, fspath(pattern), wait=wait)

    def __repr__(self) -> str:
        return f"<Attribute {self.path!a}>"


def _expect_as_long(
    values: list[object],
    *columns: Sequence[float] | Sequence[float | datetime] | None,
) -> None:
    for column in columns:
        if column is not None and len(column) != len(values):
            raise UnsupportedValue(column, "must be as long as the values")


def _points(
    values: list[object],
    steps: Sequence[float] | None,
    times: Sequence[float | datetime] | None,
) -> list[Point]:
    now = time_ns() // 1_000
    return [
        (
            to_number(value),
            None if steps is None else to_step(steps[position]),
            now if times is None else to_microseconds(times[position]),
        )
        for position, value in enumerate(values)
    ]
