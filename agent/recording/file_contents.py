"""Turns what training code holds into the content of a file.

Figures, pictures and arrays are recognised by what they can do, never by their type,
so that no framework is imported. What may change after the call is copied here; what
takes long and can wait is left to whoever calls `Content.data`.
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
from seamark.recording.images import Encoder, picture_of_array, picture_of_image

PNG = "image/png"
PLOTLY = "application/vnd.plotly.v1+json"
BINARY = "application/octet-stream"
CSV = "text/csv"
_ENDINGS = {PNG: ".png", PLOTLY: ".plotly.json", CSV: ".csv", BINARY: ".bin"}
_LONGEST_NAME = 255  # characters
_LONGEST_TYPE = 100
_job_numbers = itertools.count()


class File:
    """A file to store with a run: `run["samples/input"] = agent.File("cat.jpg")`.

    Args:
        content: The path of a file, bytes, something to read from, a Matplotlib or
            Plotly figure, a PIL image, a data frame, or an array of pixels.
        name: What it is called when it is downloaded.
        media_type: What it holds, such as `text/plain`; by default guessed.
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
        return f"<File of a {type(self.content).__name__}>"


class Image(File):
    """A picture to append to a series: `run["samples"].append(agent.Image(x), step=3)`.

    Args:
        content: What `File` takes that is a picture: a path, an array of pixels, a PIL
            image, a Matplotlib figure.
    """

    __slots__ = ()


class Content(NamedTuple):
    """What a file will hold: bytes, what makes them, or an open file of the disk."""

    name: str
    media_type: str  # "" where the name says it
    make: Callable[[], bytes] | None = None
    # Open since the call: so a file that is replaced or deleted later is still this one.
    descriptor: int | None = None
    path: Path | None = None
    # What waiting for it takes in memory.
    held_bytes: int = 0
    # The warning for a picture whose values were scaled.
    note: str = ""

    def data(self) -> bytes:
        """Return the bytes; may take a while."""
        assert self.make is not None
        return self.make()

    def close(self) -> None:
        """Let go of an open file."""
        if self.descriptor is not None:
            os.close(self.descriptor)


class Job:
    """What one call asked for."""

    def __init__(
        self,
        path: str,
        content: Content | None,
        pattern: str = "",
        *,
        folder: str = "",
        place: tuple[float, int] | None = None,
        is_awaited: bool = False,
    ) -> None:
        # In the order of the calls.
        self.number = next(_job_numbers)
        self.path = path
        self.content = content
        self.pattern = pattern
        # The working directory of the call, for a pattern that is relative.
        self.folder = folder
        # What it names and is not copied yet, with paths in the run, once it is found.
        self.found: deque[tuple[str, Path]] | None = None
        # Of a series, the step and the time in microseconds since 1970.
        self.place = place
        # Whether whoever asked for it waits until it is done: what it stores has to survive
        # the machine then.
        self.is_awaited = is_awaited
        # Why it, or a part of it, is not stored; "" as far as is known.
        self.problem = ""
        self.is_done = threading.Event()

    @property
    def is_stored(self) -> bool:
        """Whether all of it is copied and survives the process."""
        return self.is_done.is_set() and not self.problem


def to_content(
    value: object, *, fallback: str, name: str | None, media_type: str | None
) -> Content:
    """Return the content of anything a file can be made of, or refuse it.

    `fallback` is what it is called where nothing else says so; an ending is added.
    """
    if isinstance(value, File):
        name, media_type = name or value.name, media_type or value.media_type
        value = value.content
    given = _checked_name(name), _checked_type(media_type)
    if isinstance(value, (str, os.PathLike)):
        return _from_disk(value, *given)
    try:
        kind, encoder = _made(value)
    except AgentError:
        raise
    except Exception as error:
        # The value's own code ran: it may raise whatever it likes.
        reason = f"cannot be stored as a file ({type(error).__name__})"
        raise UnsupportedValue(value, reason) from error
    found = given[1] or kind
    return Content(
        given[0] or f"{fallback[:200]}{_ENDINGS.get(found, '')}",
        found,
        make=encoder.encode,
        held_bytes=encoder.held_bytes,
        note=encoder.note,
    )


def is_content(value: object) -> bool:
    """Whether what is assigned is a file, and no value: a figure, an image, a table."""
    try:
        return isinstance(value, File) or is_file(value)
    except Exception:  # noqa: BLE001 - the value's own code ran
        return False


def _from_disk(value: str | os.PathLike[Any], name: str, media_type: str) -> Content:
    try:
        path = Path(os.fsdecode(value))
    except Exception as error:
        # The path's own code ran.
        reason = f"is no path ({type(error).__name__})"
        raise UnsupportedValue(value, reason) from error
    try:
        # A pipe that nobody writes to would be waited for.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "no such path"
        raise UnsupportedValue(
            value, f"names no file that can be read: {reason}"
        ) from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise UnsupportedValue(value, "names no file; for a folder, use upload_files")
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
    # Now: figures are drawn on again, and must not be touched from another thread.
    figure.savefig(buffer, format="png")
    return buffer.getvalue()


def _read(file: Any) -> bytes:
    if can(file, "getvalue"):
        data = file.getvalue()
    elif can(file, "seekable", "seek", "tell") and file.seekable():
        # All of it, wherever whoever wrote it stands now.
        place = file.tell()
        file.seek(0)
        data = file.read()
        file.seek(place)
    else:
        data = file.read()
    return data.encode("utf-8", "replace") if isinstance(data, str) else bytes(data)


def printable(name: str) -> str:
    """Return a name of the disk as one that can be sent."""
    cleaned = "".join(c if c.isprintable() else "_" for c in name)
    return cleaned.encode("utf-8", "replace").decode()[:_LONGEST_NAME] or "file"


def _checked_name(name: str | None) -> str:
    if name is None:
        return ""
    if not isinstance(name, str) or not name.strip():
        raise UnsupportedValue(name, "is no name of a file")
    return printable(name.replace("\\", "/").rpartition("/")[2] or "file")


def _checked_type(media_type: str | None) -> str:
    if media_type is None:
        return ""
    text = media_type if isinstance(media_type, str) else ""
    kind, slash, rest = text.partition("/")
    is_usable = kind and slash and rest and len(text) <= _LONGEST_TYPE
    allowed = "abcdefghijklmnopqrstuvwxyz0123456789!#$&^_.+-"
    if not is_usable or {*kind, *rest} - {*allowed}:
        raise UnsupportedValue(media_type, "is no media type such as text/plain")
    return str(media_type)
