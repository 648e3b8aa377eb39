"""How a user arranged the charts of a project's runs: validated JSON (pure).

Stored per user and project, for charts of one run or several. The page's address holds
it as `layout`, so that a link shows the same to a colleague.

    {"pinned": [["train/loss"]], "joined": [["train/loss", "val/loss"]],
     "folded": ["infer/"], "unfolded": ["monitoring/train/"],
     "sizes": [[["train/loss"], 2, 320]], "log": [["train/loss"]], "size": "large"}
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import msgspec
import orjson

from tracker.boards.board import Widget
from tracker.errors import InvalidInput
from tracker.texts import is_storable

# A chart is known by the paths of its lines.
Key = tuple[str, ...]

SIZES = ("small", "medium", "large")
MAX_CHARTS = 200
MAX_LINES = 50
MAX_SECTIONS = 500
LONGEST_PATH = 2_048
LONGEST_JSON = 200_000
MAX_COLUMNS = 6
MAX_PANELS, LONGEST_PANEL = 20, 2_000
MIN_HEIGHT, MAX_HEIGHT = 120, 2_000


@dataclass(frozen=True, slots=True)
class Arrangement:
    pinned: tuple[Key, ...] = ()
    joined: tuple[Key, ...] = ()
    folded: frozenset[str] = frozenset()
    unfolded: frozenset[str] = frozenset()
    # Columns that a chart takes, and its height in pixels.
    sizes: dict[Key, tuple[int, int]] = field(default_factory=dict)
    log: frozenset[Key] = frozenset()
    size: str = "medium"
    # Widgets about the runs of the page.
    panels: tuple[Widget, ...] = ()

    # Any: JSON about to leave.
    @property
    def body(self) -> dict[str, Any]:
        """Return the changes from the default, in storable form."""
        described: dict[str, Any] = {
            "pinned": self.pinned,
            "joined": self.joined,
            "folded": sorted(self.folded),
            "unfolded": sorted(self.unfolded),
            "sizes": [[key, *size] for key, size in self.sizes.items()],
            "log": sorted(self.log),
            "panels": msgspec.to_builtins(self.panels),
            "size": "" if self.size == "medium" else self.size,
        }
        return {name: value for name, value in described.items() if value}


def chart_key(paths: Iterable[str]) -> str:
    """Write a chart's paths as JSON, just as JSON.stringify would."""
    return orjson.dumps(list(paths)).decode()


def read_arrangement(text: str | bytes) -> Arrangement:
    """Parse a submitted arrangement; raise on invalid input."""
    if len(text) > LONGEST_JSON:
        raise InvalidInput("layout", f"must have at most {LONGEST_JSON:,} characters")
    try:
        return arranged(orjson.loads(text))
    except (ValueError, TypeError) as error:
        raise InvalidInput("layout", "must be a layout written by this page") from error


# Any: JSON that has just arrived, from a page or from the database.
def arranged(body: Any) -> Arrangement:
    """Validate an arrangement; raise ValueError or TypeError."""
    if not isinstance(body, dict):
        raise TypeError("not an object")
    size = body.get("size") or "medium"
    if size not in SIZES:
        raise ValueError("no such size")
    return Arrangement(
        pinned=_keys(body.get("pinned", [])),
        joined=tuple(key for key in _keys(body.get("joined", [])) if len(key) > 1),
        folded=frozenset(_texts(body.get("folded", []), MAX_SECTIONS)),
        unfolded=frozenset(_texts(body.get("unfolded", []), MAX_SECTIONS)),
        sizes=dict(_size(*each) for each in _list(body.get("sizes", []), MAX_CHARTS)),
        log=frozenset(_keys(body.get("log", []))),
        size=size,
        panels=_panels(body.get("panels", [])),
    )


def read_panel(text: str) -> Widget:
    """Read one panel; raise InvalidInput if it is invalid."""
    try:
        return _panel(orjson.loads(text))
    except ValueError as error:
        raise InvalidInput("panel", str(error)) from error


def panel_json(panel: Widget) -> str:
    """Write a panel as JSON; raise InvalidInput if it is too long."""
    text = orjson.dumps(msgspec.to_builtins(panel)).decode()
    if len(text) > LONGEST_PANEL:
        raise InvalidInput("panel", f"must have at most {LONGEST_PANEL:,} characters")
    return text


# Any: JSON.
def _panel(value: Any) -> Widget:
    text = orjson.dumps(value).decode()
    if len(text) > LONGEST_PANEL or not is_storable(text) or "\\u0000" in text:
        raise ValueError("must be a short panel")
    try:
        return msgspec.convert(value, Widget)
    except msgspec.ValidationError as error:
        raise ValueError(str(error)) from error


def _panels(value: Any) -> tuple[Widget, ...]:
    panels = tuple(map(_panel, _list(value, MAX_PANELS)))
    if len({panel.id for panel in panels}) < len(panels):
        raise ValueError("two panels with one id")
    return panels


def _keys(value: Any) -> tuple[Key, ...]:
    keys = [_key(each) for each in _list(value, MAX_CHARTS)]
    return tuple(dict.fromkeys(keys))


def _key(value: Any) -> Key:
    key = tuple(dict.fromkeys(_texts(value, MAX_LINES)))
    if not key:
        raise ValueError("a chart of nothing")
    return key


def _size(key: Any, columns: Any, height: Any) -> tuple[Key, tuple[int, int]]:
    if not isinstance(columns, int) or not isinstance(height, int):
        raise TypeError("sizes are whole numbers")
    columns = min(max(columns, 1), MAX_COLUMNS)
    return _key(key), (columns, min(max(height, MIN_HEIGHT), MAX_HEIGHT))


def _texts(value: Any, most: int) -> list[str]:
    texts = _list(value, most)
    if not all(isinstance(text, str) and _is_path(text) for text in texts):
        raise ValueError("not paths")
    return texts


def _list(value: Any, most: int) -> list[Any]:
    if not isinstance(value, list) or len(value) > most:
        raise ValueError("not a list, or too long")
    return value


def _is_path(text: str) -> bool:
    return len(text) <= LONGEST_PATH and "\0" not in text
