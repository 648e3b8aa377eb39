"""Values of the Media page: panels with the items that a series has at a step."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from tracker.files import downloads
from tracker.files.pictures import Picture
from tracker.queries.run.files import FileRow
from tracker.queries.run.media import MediaItem
from tracker.records.stored_file import Box, StoredFile
from web.pages.reports.blocks import key_of
from web.pages.run_files.previews import is_figure

TABLE = "application/vnd.seamark.table+json"
POINTS = "application/vnd.seamark.points"
HTML = "text/html"
# The routes of a run's files, by the form in which they are shown.
ROUTES = {
    "picture": "run-file-picture",
    "recording": "run-media-file",
    "html": "run-media-html",
    "figure": "run-file-figure",
    "table": "run-media-table",
    "csv": "run-media-table-csv",
    "points": "run-media-points",
}
# Larger pictures are scaled down; smaller ones up to about the other size, by a whole
# factor.
MAX_WIDTH, MAX_HEIGHT = 480, 320
ENLARGED_PIXELS = 128
# Up to this size, enlarging shows pixels as squares.
SHARP_PIXELS = 256
BOX_COLORS = 8
LABEL_PIXELS = 18


class Kind(StrEnum):
    PICTURE = "picture"
    AUDIO = "audio"
    VIDEO = "video"
    HTML = "html"
    TABLE = "table"
    FIGURE = "figure"
    POINTS = "points"
    AWAITED = "awaited"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class ShownBox:
    box: Box
    color: int


@dataclass(frozen=True, slots=True)
class Item:
    """One value with its presentation."""

    kind: Kind
    stored: StoredFile
    file: FileRow | None = None
    picture: Picture | None = None
    media_type: str = ""
    masks: tuple[FileRow, ...] = ()

    @property
    def width(self) -> int:
        return round(self._scale * self.picture.width) if self.picture else 0

    @property
    def height(self) -> int:
        return round(self._scale * self.picture.height) if self.picture else 0

    @property
    def is_sharp(self) -> bool:
        return self.picture is not None and self._side <= SHARP_PIXELS

    @property
    def label_size(self) -> float:
        """Return the font size of box labels, in pixels of the picture."""
        return LABEL_PIXELS / self._scale

    @property
    def boxes(self) -> list[ShownBox]:
        labels = sorted({box.label for box in self.stored.boxes})
        return [
            ShownBox(box, labels.index(box.label) % BOX_COLORS)
            for box in self.stored.boxes
        ]

    @property
    def _side(self) -> int:
        return max(self.picture.width, self.picture.height) if self.picture else 0

    @property
    def _scale(self) -> float:
        if self.picture is None:
            return 1.0
        if self._side < ENLARGED_PIXELS:
            return math.ceil(ENLARGED_PIXELS / self._side)
        width, height = self.picture.width, self.picture.height
        return min(1.0, MAX_WIDTH / width, MAX_HEIGHT / height)


@dataclass(frozen=True, slots=True)
class Panel:
    """A path on the page; its content loads once it is in view."""

    path: str
    address: str

    @property
    def key(self) -> str:
        return key_of(self.path)

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class Section:
    namespace: str
    panels: tuple[Panel, ...]


def sections_of(panels: Iterable[Panel]) -> list[Section]:
    """Group panels by namespace, those without one first."""
    groups: dict[str, list[Panel]] = {}
    for panel in panels:
        groups.setdefault(panel.path.rpartition("/")[0], []).append(panel)
    return [Section(name, tuple(groups[name])) for name in sorted(groups)]


def steps_json(steps: Sequence[float]) -> str:
    """Return steps as JSON, whole numbers without a fraction."""
    return json.dumps([int(step) if step.is_integer() else step for step in steps])


def items_of(found: Iterable[MediaItem]) -> list[Item]:
    """Return the items to show; masks belong to the picture before them."""
    items: list[Item] = []
    for each in found:
        item = _item(each)
        last = items[-1] if items else None
        if each.stored.is_mask and last is not None and last.picture is not None:
            if item.kind == Kind.PICTURE and item.file is not None:
                items[-1] = replace(last, masks=(*last.masks, item.file))
        else:
            items.append(item)
    return items


def _item(item: MediaItem) -> Item:
    row, stored = item.file, item.stored
    if row is None or not row.is_stored:
        return Item(Kind.AWAITED, stored, row)
    picture = downloads.picture_of(row)
    if picture is not None:
        return Item(Kind.PICTURE, stored, row, picture)
    recording = downloads.recording_of(row)
    if recording is not None:
        kind = Kind(recording.partition("/")[0])
        return Item(kind, stored, row, media_type=recording)
    return Item(_kind_of(row), stored, row)


def _kind_of(row: FileRow) -> Kind:
    if is_figure(row.name, row.media_type):
        return Kind.FIGURE
    known = {HTML: Kind.HTML, TABLE: Kind.TABLE, POINTS: Kind.POINTS}
    return known.get(row.media_type, Kind.OTHER)
