"""Media of series: pictures, sounds, videos and HTML, with captions and overlays."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from math import isfinite
from os import PathLike
from typing import Any

from seamark.errors import AgentError, UnsupportedValue
from seamark.recording.duck_types import is_array
from seamark.recording.file_contents import File
from seamark.recording.media.images import Encoder

MAX_BOXES = 200
LONGEST_CAPTION = 1_000  # characters
_LONGEST_LABEL = 100
_CORNERS = 4  # left, top, right, bottom


class Media(File):
    """A file to append to a series, with a caption."""

    __slots__ = ("caption",)

    def __init__(
        self,
        content: object,
        *,
        caption: str = "",
        name: str | None = None,
        media_type: str | None = None,
    ) -> None:
        super().__init__(content, name=name, media_type=media_type)
        self.caption = caption

    def details(self) -> dict[str, object]:
        """Return the details that pages show with the content; {} for none."""
        caption = str(self.caption or "")[:LONGEST_CAPTION]
        return {"caption": caption} if caption else {}

    def encoded_details(self) -> bytes:
        """Return the details as JSON, b"" for none; raises UnsupportedValue."""
        try:
            found = self.details()
        except AgentError:
            raise
        except Exception as error:
            # The values' own code ran.
            reason = f"has details that cannot be read ({type(error).__name__})"
            raise UnsupportedValue(self, reason) from error
        if not found:
            return b""
        text = json.dumps(found, ensure_ascii=False, separators=(",", ":"))
        return text.encode("utf-8", "replace")


class Image(Media):
    """An image to append to a series: `run["samples"].append(agent.Image(x), step=3)`.

    Args:
        content: A path, an array of pixels, a PIL image, a Matplotlib figure, or encoded
            bytes with a name such as `x.jpg`.
        caption: A text below the image, up to 1,000 characters.
        boxes: Up to 200 rectangles in pixels, each `(left, top, right, bottom)` or
            `(left, top, right, bottom, label)`.
        mask: An integer array of shape (height, width): 0 is transparent, every other
            class has a color.
    """

    __slots__ = ("boxes", "mask")

    def __init__(
        self,
        content: object,
        *,
        caption: str = "",
        boxes: Iterable[Iterable[object]] | None = None,
        mask: object = None,
        name: str | None = None,
        media_type: str | None = None,
    ) -> None:
        super().__init__(content, caption=caption, name=name, media_type=media_type)
        self.boxes = boxes
        self.mask = mask

    def details(self) -> dict[str, object]:
        found = super().details()
        boxes = [] if self.boxes is None else [self._box(box) for box in self.boxes]
        if len(boxes) > MAX_BOXES:
            raise UnsupportedValue(self, f"has more than {MAX_BOXES} boxes")
        return {**found, "boxes": boxes} if boxes else found

    # Any: tuples, or rows of an array.
    def _box(self, box: Any) -> list[object]:
        parts = [*box]
        corners = [round(float(part), 2) for part in parts[:_CORNERS]]
        is_box = len(corners) == _CORNERS and len(parts) <= _CORNERS + 1
        if not is_box or not all(map(isfinite, corners)):
            raise UnsupportedValue(
                self,
                "has a box that is not (left, top, right, bottom), with or without a"
                " label",
            )
        return [*corners, *(str(label)[:_LONGEST_LABEL] for label in parts[_CORNERS:])]


class Html(Media):
    """A piece of HTML, shown in a sandboxed frame without network access.

    Args:
        content: HTML as text, or the path of a file as a `pathlib.Path`.
        caption: A text below it.
    """

    __slots__ = ()

    def made(self) -> tuple[str, Encoder] | None:
        if not isinstance(self.content, str) or isinstance(self.content, PathLike):
            return None
        data = self.content.encode("utf-8", "replace")
        return "text/html", Encoder(lambda: data, len(data))


def media_of(value: object, is_picture: Callable[[object], bool]) -> list[Media]:
    """Return the media of a list, or of one value; [] if any element is none.

    Arrays count as pictures only inside a list. `is_picture` recognizes figures and
    images of other libraries.
    """
    if isinstance(value, (list, tuple)):
        found = [_medium(each, is_picture) or _of_array(each) for each in value]
    else:
        found = [_medium(value, is_picture)]
    known = [each for each in found if each is not None]
    return known if len(known) == len(found) else []


def _medium(value: object, is_picture: Callable[[object], bool]) -> Media | None:
    if isinstance(value, Media):
        return value
    return Image(value) if is_picture(value) else None


# Any: an array of any framework.
def _of_array(value: Any) -> Media | None:
    return Image(value) if is_array(value) and len(value.shape) > 1 else None
