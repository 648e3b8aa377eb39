"""Point clouds of a series: coordinates with values or colors, as binary columns."""

from __future__ import annotations

import struct
import sys
from typing import Any

from seamark.errors import AgentError, UnsupportedValue
from seamark.recording.duck_types import can
from seamark.recording.file_contents import POINTS
from seamark.recording.media.images import Encoder
from seamark.recording.media.media import Media

MAX_POINTS = 100_000
# Magic, version, form, reserved, stored points, given points: docs/formats/point-cloud.md.
HEAD = struct.Struct("<4sBBHIQ")
MAGIC, VERSION = b"SMPC", 1
# Forms by the number of columns.
PLAIN, WITH_VALUE, WITH_COLOR = 0, 1, 2
_FORMS = {3: PLAIN, 4: WITH_VALUE, 6: WITH_COLOR}
_DIMENSIONS = 2
_COORDINATES = 3
_BRIGHTEST = 255


class PointCloud(Media):
    """A point cloud to append to a series: `run["scan"].append(agent.PointCloud(x))`.

    Args:
        points: An array or a tensor of shape (points, 3) with x, y and z; (points, 4)
            with a value that selects the color; or (points, 6) with red, green and
            blue, integers from 0 to 255 or floats from 0 to 1. Larger clouds are
            sampled evenly to 100,000 points.
        caption: A text below the points.
    """

    __slots__ = ()

    def __init__(
        self, points: object, *, caption: str = "", name: str | None = None
    ) -> None:
        super().__init__(points, caption=caption, name=name, media_type=POINTS)

    def made(self) -> tuple[str, Encoder]:
        try:
            data, note = _encoded(self.content)
        except AgentError:
            raise
        except Exception as error:
            # The array's own code ran.
            reason = f"is not a point cloud ({type(error).__name__})"
            raise UnsupportedValue(self, reason) from error
        return POINTS, Encoder(lambda: data, len(data), note)


# Any, here and below: foreign types are known only at run time.
def _encoded(given: Any) -> tuple[bytes, str]:
    numpy = sys.modules.get("numpy")
    if numpy is None:
        raise UnsupportedValue(given, "needs NumPy to be stored as a point cloud")
    points = numpy.asarray(given.detach().cpu() if can(given, "detach") else given)
    is_cloud = points.ndim == _DIMENSIONS and points.shape[1] in _FORMS
    if not is_cloud or points.dtype.kind not in "biuf":
        raise UnsupportedValue(
            points,
            f"of shape {points.shape} is not a point cloud: it is (points, 3), with a"
            " value (points, 4), or with a color (points, 6)",
        )
    total = len(points)
    kept = points[numpy.isfinite(points).all(axis=1)]
    notes = []
    if len(kept) < total:
        notes.append(f"{total - len(kept):,} points that are not finite are left out")
    if len(kept) > MAX_POINTS:
        notes.append(f"only {MAX_POINTS:,} of {total:,} points are stored")
        kept = kept[numpy.linspace(0, len(kept) - 1, MAX_POINTS).astype(int)]
    form = _FORMS[points.shape[1]]
    head = HEAD.pack(MAGIC, VERSION, form, 0, len(kept), total)
    return head + _columns(numpy, kept, form), "; ".join(notes)


def _columns(numpy: Any, points: Any, form: int) -> bytes:
    """Return the coordinates, one after the other, and the values or the colors."""
    largest = numpy.finfo(numpy.float32).max
    single = numpy.clip(points[:, : _COORDINATES + 1], -largest, largest)
    columns = single.astype("<f4")
    data = b"".join(columns[:, place].tobytes() for place in range(columns.shape[1]))
    if form != WITH_COLOR:
        return data
    colors = points[:, _COORDINATES:]
    if points.dtype.kind == "f" and len(colors) and colors.max() <= 1:
        colors = colors * _BRIGHTEST
    coordinates = data[: _COORDINATES * 4 * len(points)]
    levels = numpy.clip(numpy.rint(colors), 0, _BRIGHTEST)
    return coordinates + bytes(levels.astype(numpy.uint8).tobytes())
