"""Converts objects of training code to the content of a file.

Figures, pictures and arrays are recognized by their methods, not by their type, so no
framework is imported. Objects that may change after the call are copied here; slow
encoding is deferred to the caller of `Content.data`.
"""

from __future__ import annotations

import io
import itertools
import os
import stat
import threading
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from seamark.errors import AgentError, UnsupportedValue
from seamark.recording.duck_types import (
    can,
    csv_of,
    is_figure,
    is_file,
    is_image,
    is_part_of_figure,
    is_plotly_figure,
    is_table,
)
from seamark.recording.media.images import Encoder, picture_of_array, picture_of_image

PNG = "image/png"
PLOTLY = "application/vnd.plotly.v1+json"
BINARY = "application/octet-stream"
CSV = "text/csv"
POINTS = "application/vnd.seamark.points"
_ENDINGS = {
    PNG: ".png",
    PLOTLY: ".plotly.json",
    CSV: ".csv",
    BINARY: ".bin",
    "text/html": ".html",
    "audio/wav": ".wav",
    "image/apng": ".png",
    "application/vnd.seamark.table+json": ".table.json",
    POINTS: ".points",
}
_LONGEST_NAME = 255  # characters
_LONGEST_TYPE = 100
_job_numbers = itertools.count()


class File:
    """A file to store with a run: `run["samples/input"] = agent.File("cat.jpg")`.

    Args:
        content: A path, bytes, a readable object, a Matplotlib or
            Plotly figure, a PIL image, a data frame, or an array of pixels.
        name: The file name for downloads.
        media_type: The media type, such as `text/plain`; by default guessed.
    """

    __slots__ = ("content", "media_type", "name")

    def __init__(
        self,
        content: object,
        *,
        name: str | None = None,
        media_type: str | None = None,
    ) -> None:
        self.content = content
        self.name = name
        self.media_type = media_type

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of a {type(self.content).__name__}>"

    def made(self) -> tuple[str, Encoder] | None:
        """Return a media type and an encoder; None where the content's type decides."""
        return None


class Content(NamedTuple):
    """The content of a file: bytes, a function that makes them, or an open file."""

    name: str
    media_type: str  # "" if it follows from the name
    make: Callable[[], bytes] | None = None
    # Opened at the call, so that replacing or deleting the file later has no effect.
    descriptor: int | None = None
    path: Path | None = None
    # Memory that it takes while it is queued.
    buffered_bytes: int = 0
    # The warning for a picture whose values were scaled.
    note: str = ""

    def data(self) -> bytes:
        """Return the bytes; may be slow."""
        assert self.make is not None
        return self.make()

    def close(self) -> None:
        """Close the open file, if any."""
        if self.descriptor is not None:
            os.close(self.descriptor)


class Place(NamedTuple):
    """Where a file belongs in a series."""

    kind: str  # of the record
    step: float
    time: int  # microseconds since 1970
    details: bytes = b""  # JSON; see docs/protocol.md


class Job:
    """One upload request."""

    def __init__(
        self,
        path: str,
        content: Content | None,
        pattern: str = "",
        *,
        folder: str = "",
        place: Place | None = None,
        is_awaited: bool = False,
    ) -> None:
        # In the order of the calls.
        self.number = next(_job_numbers)
        self.path = path
        self.content = content
        self.pattern = pattern
        # The working directory of the call, for a relative pattern.
        self.folder = folder
        # Matched files that are not copied yet, with their paths in the run; None
        # before the pattern is resolved.
        self.found: deque[tuple[str, Path]] | None = None
        # None for a file that does not belong to a series.
        self.place = place
        # Whether the caller waits; then the content must survive a crash of the
        # machine.
        self.is_awaited = is_awaited
        # Why all or a part of it is not stored; "" if there is no error so far.
        self.problem = ""
        self.is_done = threading.Event()

    @property
    def is_stored(self) -> bool:
        """Return whether all of it is copied and survives the process."""
        return self.is_done.is_set() and not self.problem


def to_content(
    value: object, *, fallback: str, name: str | None, media_type: str | None
) -> Content:
    """Return the content of any supported object, or raise UnsupportedValue.

    `fallback` is the default file name, without its extension.
    """
    file = value if isinstance(value, File) else File(value)
    given = (
        _checked_name(name or file.name),
        _checked_type(media_type or file.media_type),
    )
    value = file.content
    try:
        made = file.made()
        if made is None and isinstance(value, (str, os.PathLike)):
            return _from_disk(value, *given)
        kind, encoder = made or _made(value)
    except AgentError:
        raise
    except Exception as error:
        # The object's own code ran and may raise anything.
        reason = f"cannot be stored as a file ({type(error).__name__})"
        raise UnsupportedValue(value, reason) from error
    found = given[1] or kind
    return Content(
        given[0] or f"{fallback[:200]}{_ENDINGS.get(found, '')}",
        found,
        make=encoder.encode,
        buffered_bytes=encoder.buffered_bytes,
        note=encoder.note,
    )


def is_content(value: object) -> bool:
    """Return whether an assigned object is a file: a figure, an image, a table."""
    try:
        return isinstance(value, File) or is_file(value)
    except Exception:  # noqa: BLE001 - the value's own code ran
        return False


def _from_disk(value: str | os.PathLike[Any], name: str, media_type: str) -> Content:
    try:
        path = Path(os.fsdecode(value))
    except Exception as error:
        # The path's own code ran.
        reason = f"is not a path ({type(error).__name__})"
        raise UnsupportedValue(value, reason) from error
    try:
        # Without O_NONBLOCK, opening a pipe without a writer would block.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "no such path"
        raise UnsupportedValue(value, f"is not a readable file: {reason}") from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise UnsupportedValue(
            value, "is not a regular file; for a folder, use upload_files"
        )
    return Content(
        name or printable(path.name), media_type, descriptor=descriptor, path=path
    )


# Any, here and below: foreign types are known only at run time.
def _made(  # noqa: PLR0911 - one for each kind
    value: Any,
) -> tuple[str, Encoder]:
    """Return a media type and the encoder of the content."""
    if isinstance(value, (bytes, bytearray, memoryview)):
        return "", _holding(bytes(value))
    if is_plotly_figure(value):
        return PLOTLY, _holding(str.encode(value.to_json(), "utf-8", "replace"))
    if is_figure(value):
        return PNG, _holding(_drawn(value))
    if is_part_of_figure(value):
        return _made(value.get_figure())
    if is_image(value):
        return PNG, picture_of_image(value)
    if is_table(value):
        return CSV, _holding(str.encode(csv_of(value), "utf-8", "replace"))
    if hasattr(value, "shape"):
        return PNG, picture_of_array(value)
    if can(value, "read"):
        return "", _holding(_read(value))
    raise UnsupportedValue(
        value, "is neither a path, bytes, a file, a figure, an image nor an array"
    )


def _holding(data: bytes) -> Encoder:
    return Encoder(lambda: data, len(data))


def _drawn(figure: Any) -> bytes:
    buffer = io.BytesIO()
    # Drawn now: the script may change the figure, and figures are not thread-safe.
    figure.savefig(buffer, format="png")
    return buffer.getvalue()


def _read(file: Any) -> bytes:
    if can(file, "getvalue"):
        data = file.getvalue()
    elif can(file, "seekable", "seek", "tell") and file.seekable():
        # Reads from the start, whatever the current position.
        place = file.tell()
        file.seek(0)
        data = file.read()
        file.seek(place)
    else:
        data = file.read()
    return data.encode("utf-8", "replace") if isinstance(data, str) else bytes(data)


def printable(name: str) -> str:
    """Return a file name of the disk with unprintable characters replaced."""
    cleaned = "".join(c if c.isprintable() else "_" for c in name)
    return cleaned.encode("utf-8", "replace").decode()[:_LONGEST_NAME] or "file"


def _checked_name(name: str | None) -> str:
    if name is None:
        return ""
    if not isinstance(name, str) or not name.strip():
        raise UnsupportedValue(name, "is not a file name")
    return printable(name.replace("\\", "/").rpartition("/")[2] or "file")


def _checked_type(media_type: str | None) -> str:
    if media_type is None:
        return ""
    text = media_type if isinstance(media_type, str) else ""
    kind, slash, rest = text.partition("/")
    is_usable = kind and slash and rest and len(text) <= _LONGEST_TYPE
    allowed = "abcdefghijklmnopqrstuvwxyz0123456789!#$&^_.+-"
    if not is_usable or {*kind, *rest} - {*allowed}:
        raise UnsupportedValue(media_type, "is not a media type such as text/plain")
    return str(media_type)
