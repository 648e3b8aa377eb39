"""Queues non-numeric values of series: texts, histograms, pictures."""

from __future__ import annotations

from typing import TypeGuard

from seamark.errors import AgentError, UnsupportedValue
from seamark.queue.buffer import Buffer
from seamark.recording.duck_types import is_picture, is_plotly_figure
from seamark.recording.file_contents import Image, Job, to_content
from seamark.recording.file_jobs import FileJobs
from seamark.recording.path_types import Kind, Kinds
from seamark.recording.records import RECORDED, Recorded, Records
from seamark.user_warnings import Notices

# Types of non-numeric values.
_NO_NUMBERS = (*RECORDED, Image)


class RecordWriter:
    """Creates records and passes them to the buffer or the copy thread."""

    def __init__(
        self, buffer: Buffer, kinds: Kinds, jobs: FileJobs, notices: Notices
    ) -> None:
        self._buffer = buffer
        self._kinds = kinds
        self._jobs = jobs
        self._records = Records(notices)

    def append(self, path: str, value: object, step: float | None, moment: int) -> bool:
        """Log a non-numeric value; return False if the value is not one.

        If it raises AgentError, nothing was logged.
        """
        if not is_record(value):
            return False
        if isinstance(value, Image):
            self._append_image(path, value, step, moment)
        else:
            self._kinds.claim(path, _kind_of(value))
            self._buffer.put_record(self._records.made(path, value, step, moment))
        return True

    def append_picture(
        self, path: str, value: object, step: float | None, moment: int
    ) -> bool:
        """Log a figure or image; return False if the value is not one.

        Called only for values that are not numbers, because the check runs their code.
        """
        if not _is_picture(value):
            return False
        self._append_image(path, Image(value), step, moment)
        return True

    def _append_image(
        self, path: str, image: Image, step: float | None, moment: int
    ) -> None:
        name = path.rpartition("/")[2]
        content = to_content(image, fallback=name, name=None, media_type=None)
        try:
            if content.media_type and not content.media_type.startswith("image/"):
                raise UnsupportedValue(image, "is not a picture; upload it")
            self._kinds.claim(path, Kind.IMAGE)
        except AgentError:
            content.close()
            raise
        place = self._records.used_step(path, step), moment
        self._jobs.put(Job(path, content, place=place))


def is_record(value: object) -> TypeGuard[Recorded | Image]:
    """Return whether a value belongs to a series of records, not of numbers."""
    try:
        return isinstance(value, _NO_NUMBERS)
    except Exception:  # noqa: BLE001 - a proxy object runs its own code
        return False


def _is_picture(value: object) -> bool:
    try:
        # Plotly figures are stored as JSON and drawn in the browser.
        return is_picture(value) and not is_plotly_figure(value)
    except Exception:  # noqa: BLE001 - foreign code
        return False


def _kind_of(value: Recorded) -> Kind:
    return Kind.TEXT if isinstance(value, str) else Kind.HISTOGRAM
