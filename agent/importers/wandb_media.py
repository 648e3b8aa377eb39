"""W&B's media in the history of a run: histograms, pictures and tables (pure)."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from itertools import pairwise
from typing import Any, NamedTuple

from seamark.importers.wandb import to_float

_MAX_BINS = 512


class Kind(Enum):
    """The content of a file."""

    IMAGE = "image"
    TABLE = "table"
    AUDIO = "audio"
    VIDEO = "video"
    HTML = "html"


class Bins(NamedTuple):
    """A histogram: ascending edges, one more than counts."""

    edges: list[float]
    counts: list[float]


class Files(NamedTuple):
    """Files of one step, by their paths in the folder `files`, and their captions."""

    kind: Kind
    paths: list[str]
    captions: list[str]


_SINGLE = {
    "image-file": Kind.IMAGE,
    "table-file": Kind.TABLE,
    "audio-file": Kind.AUDIO,
    "video-file": Kind.VIDEO,
    "html-file": Kind.HTML,
}
_SEVERAL = {
    "audio": (Kind.AUDIO, "audio"),
    "videos": (Kind.VIDEO, "videos"),
}


# Any: JSON of strangers.
def read_media(value: Mapping[str, Any]) -> Bins | Files | None:
    """Return a value of the history that is no number; None if it has no counterpart."""
    kind = value.get("_type")
    if kind == "histogram":
        return _bins(value)
    if kind in _SINGLE:
        return _files(_SINGLE[kind], [value])
    if kind == "images/separated":
        captions = value.get("captions")
        names = value.get("filenames")
        if not isinstance(names, list):
            return None
        texts = captions if isinstance(captions, list) else []
        texts = [*texts, *[""] * (len(names) - len(texts))]
        pairs = zip(names, texts, strict=False)
        return _files(Kind.IMAGE, [{"path": p, "caption": text} for p, text in pairs])
    if kind in _SEVERAL:
        of_kind, key = _SEVERAL[kind]
        listed = value.get(key)
        return _files(of_kind, listed) if isinstance(listed, list) else None
    return None


def _files(kind: Kind, values: list[Any]) -> Files | None:
    found = [
        (value["path"], str(value.get("caption") or ""))
        for value in values
        if isinstance(value, Mapping) and isinstance(value.get("path"), str)
    ]
    if not found:
        return None
    return Files(kind, [path for path, _ in found], [text for _, text in found])


def _bins(value: Mapping[str, Any]) -> Bins | None:
    counts = _numbers(value.get("values"))
    edges = _numbers(value.get("bins"))
    packed = value.get("packedBins")
    if edges is None and isinstance(packed, Mapping) and counts is not None:
        low, size = to_float(packed.get("min")), to_float(packed.get("size"))
        if low is not None and size is not None:
            edges = [low + size * number for number in range(len(counts) + 1)]
    if edges is None or not counts or len(edges) != len(counts) + 1:
        return None
    is_ascending = all(a < b for a, b in pairwise(edges))
    if not is_ascending or len(counts) > _MAX_BINS or min(counts) < 0:
        return None
    return Bins(edges, counts)


def _numbers(values: object) -> list[float] | None:
    if not isinstance(values, list):
        return None
    numbers = [to_float(value) for value in values]
    found = [number for number in numbers if number is not None]
    return found if len(found) == len(numbers) else None
