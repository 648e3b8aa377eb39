"""Encodes arrays, tensors and PIL images as PNG.

Integers are levels from 0 to 255, floats are between 0 and 1. Any other range is scaled
to 0-255 and reported in `Encoder.note`.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from functools import partial
from math import isfinite
from typing import Any, NamedTuple

from seamark.errors import UnsupportedValue
from seamark.recording.duck_types import can
from seamark.recording.media.png import COLOURS, to_animation, to_png

_WHITE = 255
_MAX_VIDEO_BYTES = 64 * 1024 * 1024
# Half a level: overshoot of interpolation at the ends of the range is not visible.
_TOLERANCE = 0.5 / _WHITE
_PIL_MODES_OF_PNG = ("1", "L", "LA", "P", "RGB", "RGBA")
_PIL_MODES_WITH_ALPHA = {"PA": "RGBA", "La": "LA", "RGBa": "RGBA"}
_SINGLE_BYTES = 4
_ROWS_AND_COLUMNS, _WITH_CHANNELS = 2, 3  # dimensions
# Colors of the classes of a mask, by Okabe and Ito: distinguishable without color vision.
_CLASS_COLORS = (
    *((230, 159, 0, 255), (86, 180, 233, 255), (0, 158, 115, 255)),
    *((240, 228, 66, 255), (0, 114, 178, 255), (213, 94, 0, 255)),
    *((204, 121, 167, 255), (148, 103, 189, 255), (127, 127, 127, 255)),
)


class Encoder(NamedTuple):
    """A copy of a value, and the function that encodes it later."""

    encode: Callable[[], bytes]
    buffered_bytes: int
    # How the values of a picture were changed; "" if they were not.
    note: str = ""


# Any, here and below: foreign types are known only at run time.
def picture_of_array(value: Any) -> Encoder:
    """Return the picture in an array or a tensor; UnsupportedValue for other shapes."""
    if hasattr(value, "column_names"):
        raise UnsupportedValue(value, "is a table: store the result of its to_pandas()")
    numpy = sys.modules.get("numpy")
    if numpy is None:
        raise UnsupportedValue(value, "needs NumPy to be stored as an image")
    is_tensor = can(value, "detach", "cpu")
    if is_tensor:
        value = value.detach().cpu()
        # NumPy has no bfloat16.
        value = value.float() if value.is_floating_point() else value
    pixels = _with_channels_last(numpy, numpy.asarray(value), first=is_tensor)
    pixels, note = _as_levels(numpy, pixels)
    height, width, channels = pixels.shape
    # A copy, because the caller may change the array.
    data = pixels.tobytes()
    encode = partial(to_png, data, width=width, height=height, channels=channels)
    return Encoder(encode, len(data), note)


def picture_of_image(image: Any) -> Encoder:
    """Return the picture in a PIL image."""
    if image.mode in ("F", "I") or image.mode.startswith("I;16"):
        # PNG and browsers would truncate or darken more than 8 bits.
        return picture_of_array(image)
    copy = image.copy()
    buffered_bytes = len(copy.getbands()) * copy.width * copy.height
    return Encoder(partial(_saved, copy), buffered_bytes)


def picture_of_mask(value: Any) -> Encoder:
    """Return a picture with one color for each class of an integer array; 0 is transparent."""
    numpy = sys.modules.get("numpy")
    if numpy is None:
        raise UnsupportedValue(value, "needs NumPy to be stored as a mask")
    try:
        classes = numpy.asarray(value.detach().cpu() if can(value, "detach") else value)
    except Exception as error:
        # The value's own code ran.
        reason = f"is not a mask ({type(error).__name__})"
        raise UnsupportedValue(value, reason) from error
    while classes.ndim > _ROWS_AND_COLUMNS and len(classes) == 1:
        classes = classes[0]
    is_mask = classes.ndim == _ROWS_AND_COLUMNS and classes.dtype.kind in "biu"
    if not is_mask or not classes.size:
        raise UnsupportedValue(
            value, "is not a mask: a mask holds integers of shape (height, width)"
        )
    colors = numpy.array([(0, 0, 0, 0), *_CLASS_COLORS], numpy.uint8)
    classes = classes.astype(numpy.int64)
    # Classes beyond the palette start again with its first color.
    data = colors[numpy.where(classes > 0, 1 + (classes - 1) % len(_CLASS_COLORS), 0)]
    height, width = classes.shape
    encode = partial(to_png, data.tobytes(), width=width, height=height, channels=4)
    return Encoder(encode, data.nbytes)


def animation_of_array(value: Any, frames_per_second: float) -> Encoder:
    """Return frames as an animation; raise UnsupportedValue for any other shape."""
    numpy = sys.modules.get("numpy")
    if numpy is None:
        raise UnsupportedValue(value, "needs NumPy to be stored as a video")
    is_tensor = can(value, "detach", "cpu")
    frames = numpy.asarray(value.detach().cpu() if is_tensor else value)
    if frames.ndim == _WITH_CHANNELS:
        frames = frames[..., None]
    is_video = frames.ndim == _WITH_CHANNELS + 1 and frames.size
    has_second = is_video and frames.shape[1] in COLOURS
    if has_second and (is_tensor or frames.shape[3] not in COLOURS):
        frames = numpy.moveaxis(frames, 1, 3)
    if not is_video or frames.shape[3] not in COLOURS:
        raise UnsupportedValue(
            frames,
            f"of shape {frames.shape} is not a video: frames have (frames, height,"
            " width), with 1 to 4 channels second or last",
        )
    if frames.size > _MAX_VIDEO_BYTES:
        raise UnsupportedValue(
            frames, "is larger than 64 MiB of pixels; encode it and use its path"
        )
    levels, note = _as_levels(numpy, frames)
    count, height, width, channels = levels.shape
    # The caller may change the array: this is a copy.
    pixels = [levels[place].tobytes() for place in range(count)]
    size = {"width": width, "height": height, "channels": channels}
    encode = partial(to_animation, pixels, **size, frames_per_second=frames_per_second)
    return Encoder(encode, levels.nbytes, note)


def _saved(image: Any) -> bytes:
    buffer = io.BytesIO()
    if image.mode not in _PIL_MODES_OF_PNG:
        image = image.convert(_PIL_MODES_WITH_ALPHA.get(image.mode, "RGB"))
    image.save(buffer, format="PNG")
    return buffer.getvalue()


def _with_channels_last(numpy: Any, pixels: Any, *, first: bool) -> Any:
    """Return the pixels as (height, width, channels); tensors have the channels first."""
    shape = pixels.shape
    while pixels.ndim > _WITH_CHANNELS and len(pixels) == 1:
        # A batch of one picture.
        pixels = pixels[0]
    if pixels.ndim == _ROWS_AND_COLUMNS:
        pixels = pixels[:, :, None]
    is_picture = pixels.ndim == _WITH_CHANNELS
    has_first = is_picture and pixels.shape[0] in COLOURS
    has_last = is_picture and pixels.shape[2] in COLOURS
    if has_first and (first or not has_last):
        pixels = numpy.moveaxis(pixels, 0, 2)
    elif not has_last:
        raise UnsupportedValue(
            pixels,
            f"of shape {shape} is not an image: an image is (height, width), with 1 to 4"
            " channels first or last",
        )
    if not pixels.size:
        raise UnsupportedValue(pixels, "without pixels is not an image")
    return pixels


def _as_levels(numpy: Any, pixels: Any) -> tuple[Any, str]:
    """Return levels from 0 to 255, and a note on how the values were changed."""
    kind = pixels.dtype.kind
    if pixels.dtype == numpy.uint8:
        return pixels, ""
    if kind == "b":
        return pixels.astype(numpy.uint8) * _WHITE, ""
    if kind in "iu":
        return _levels_of_integers(numpy, pixels)
    if kind == "V" and pixels.dtype.names is None:
        # bfloat16 and other small floats of JAX and TensorFlow.
        pixels, kind = pixels.astype(numpy.float32), "f"
    if kind != "f":
        raise UnsupportedValue(pixels, f"of {pixels.dtype} is not an image")
    if pixels.dtype.itemsize < _SINGLE_BYTES:
        pixels = pixels.astype(numpy.float32)
    return _levels_of_floats(numpy, pixels)


def _levels_of_integers(numpy: Any, pixels: Any) -> tuple[Any, str]:
    low, high = int(pixels.min()), int(pixels.max())
    if low >= 0 and high <= _WHITE:
        return pixels.astype(numpy.uint8), ""
    note = _scaling(low, high, "integers", "0 to 255")
    values = pixels.astype(numpy.float64)
    return _stretched(numpy, values, low, high), note


def _levels_of_floats(numpy: Any, pixels: Any) -> tuple[Any, str]:
    finite, note = pixels, ""
    low, high = float(pixels.min()), float(pixels.max())
    if not (isfinite(low) and isfinite(high)):
        finite = pixels[numpy.isfinite(pixels)]
        low, high = (
            (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
        )
        note = (
            f"{pixels.size - finite.size:,} values are not finite; NaN and -inf are"
            " drawn black, inf white"
        )
    if low >= -_TOLERANCE and high <= 1 + _TOLERANCE:
        return _stretched(numpy, pixels, 0.0, 1.0), note
    # Floats that are all whole numbers were integers before.
    is_whole = bool((finite == numpy.rint(finite)).all())
    if low >= 0 and high <= _WHITE and is_whole:
        return _stretched(numpy, pixels, 0.0, float(_WHITE)), note
    scaling = _scaling(low, high, "floats", "0 to 1")
    levels = _stretched(numpy, pixels, low, high)
    return levels, f"{scaling}; {note}" if note else scaling


def _stretched(numpy: Any, values: Any, low: float, high: float) -> Any:
    """Scale values linearly to levels: `low` to 0 and `high` to 255."""
    with numpy.errstate(all="ignore"):
        # In place, because a picture may have millions of values.
        levels = values - low
        levels *= _WHITE / ((high - low) or 1.0)
        numpy.clip(levels, 0, _WHITE, out=levels)
        levels[numpy.isnan(levels)] = 0
        return numpy.rint(levels, out=levels).astype(numpy.uint8)


def _scaling(low: float, high: float, kind: str, expected: str) -> str:
    return (
        f"values from {low:g} to {high:g} are scaled so that {low:g} is black and"
        f" {high:g} is white; {kind} are expected from {expected}"
    )
