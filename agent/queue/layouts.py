"""Layouts: the series that the values of a row belong to.

A row holds the values of one logging call, as bytes:

    number u64 · layout u64 · time i64 (µs since 1970) · step f64 · values f64 … ·
number u64

The number at both ends detects rows that were not written completely.
docs/formats/ring.md describes the file around the rows.
"""

from __future__ import annotations

import struct
import threading
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import count

# Prefix of hardware metrics; their steps are seconds of each process.
MEASURED = "monitoring/"
# The last step of a layout without rows.
UNUSED = -1.0
HEAD = struct.Struct("<QQqd")
TAIL = struct.Struct("<Q")
# Above these limits a call with many values becomes rows of one value each.
MAX_VALUES = 8_192
_MAX_WIDE_LAYOUTS = 1_000
_MAX_KEYS = 200_000


class Layout:
    """The series that the values of a row belong to, in order."""

    __slots__ = (
        "coming_steps",
        "is_defined",
        "is_shared",
        "last_step",
        "number",
        "pack",
        "pack_into",
        "paths",
        "size",
    )

    def __init__(self, number: int, paths: tuple[str, ...]) -> None:
        shape = _shape(len(paths))
        self.number = number
        self.paths = paths
        self.size = shape.size
        self.pack = shape.pack
        self.pack_into = shape.pack_into
        # Whether the ring buffer defines it, so that recovery can read its rows.
        self.is_defined = False
        # Whether another layout contains one of its paths too.
        self.is_shared = False
        self.last_step = UNUSED
        # Automatic steps; taking the next one is atomic.
        self.coming_steps: Iterator[float] | None = None


class Layouts:
    """All layouts of a process, by the keys that were logged."""

    def __init__(
        self, define: Callable[[Layout], bool], *, first_step: float = 0.0
    ) -> None:
        """Create it; `first_step` is the first automatic step of the script's series."""
        # By a path, or by a dictionary's keys as the user wrote them.
        self.by_key: dict[str | tuple[str, ...], Layout] = {}
        self._define = define
        self._before_first = first_step - 1.0
        self._by_paths: dict[tuple[str, ...], Layout] = {}
        self.by_number: dict[int, Layout] = {}
        self._first_of_path: dict[str, Layout] = {}
        # The last step of each path of the layouts that share paths.
        self._shared_steps: dict[str, float] = {}
        # The largest step of the calls that log several series together.
        self.common_step = UNUSED
        self._wide = 0
        self._is_used = False
        self._numbers = count(1)
        # Re-entrant, because a signal handler may log while its thread adds one.
        self._adding = threading.RLock()

    def of(self, paths: tuple[str, ...]) -> Layout | None:
        """Return the layout of these paths; None if it would exceed a limit."""
        known = self._by_paths.get(paths)
        if known is not None:
            return known
        if len(paths) > MAX_VALUES:
            return None
        with self._adding:
            # Another thread may have added it.
            known = self._by_paths.get(paths)
            if known is not None:
                return known
            if len(paths) > 1:
                if self._wide >= _MAX_WIDE_LAYOUTS:
                    return None
                self._wide += 1
            return self._add(paths)

    def remember(self, key: str | tuple[str, ...], layout: Layout) -> None:
        """Cache a layout by the logged key."""
        if len(self.by_key) < _MAX_KEYS:
            self.by_key[key] = layout

    @property
    def is_used(self) -> bool:
        """Return whether the script itself has logged points."""
        self._is_used = self._is_used or self.last_step() >= 0.0
        return self._is_used

    def last_step(self) -> float:
        """Return the last step that the script itself has logged, or -1."""
        with self._adding:
            own = [*self.by_number.values()]
        steps = [x.last_step for x in own if not x.paths[0].startswith(MEASURED)]
        return max(steps, default=-1.0)

    def next_step(self, layout: Layout, least: float = UNUSED) -> float:
        """Return the step after the last of a layout's series, or `least`."""
        if layout.is_shared:
            after = max(map(self._shared_steps.__getitem__, layout.paths)) + 1.0
            return max(after, least)
        step = next(layout.coming_steps or self._count_from(layout, least))
        return step if step >= least else next(self._count_from(layout, least))

    def next_step_of(self, path: str) -> float:
        """Return the step after the last of a series."""
        if path in self._shared_steps:
            return self._shared_steps[path] + 1.0
        layout = self._first_of_path.get(path)
        return (self._before(path) if layout is None else self._last(layout)) + 1.0

    def share_step(self, layout: Layout, step: float) -> None:
        """Store the last step of series that are in several layouts."""
        self._shared_steps.update(dict.fromkeys(layout.paths, step))

    def give_back(self, layout: Layout, step: float) -> None:
        """Return an unused step, so that the next point gets it."""
        layout.coming_steps = None
        if layout.last_step == step:
            layout.last_step = step - 1.0
        for path in layout.paths:
            if self._shared_steps.get(path) == step:
                self._shared_steps[path] = step - 1.0

    def define_all(self) -> None:
        """Write every layout to the ring buffer."""
        with self._adding:
            for layout in [*self.by_number.values()]:
                layout.is_defined = self._define(layout)

    def _add(self, paths: tuple[str, ...]) -> Layout:
        layout = Layout(next(self._numbers), paths)
        layout.is_defined = self._define(layout)
        for path in paths:
            first = self._first_of_path.get(path)
            if first is None or self._by_paths.get(first.paths) is not first:
                # The path is new, or adding its first layout was interrupted by an
                # exception.
                self._first_of_path[path] = layout
            else:
                self._share(first)
                layout.is_shared = True
        if layout.is_shared:
            for path in paths:
                self._shared_steps.setdefault(path, self._before(path))
        self.by_number[layout.number] = layout
        # Last: a layout counts as added only with this entry.
        self._by_paths[paths] = layout
        return layout

    def _count_from(self, layout: Layout, least: float) -> Iterator[float]:
        """Return a layout's automatic steps, which begin at `least` or later."""
        with self._adding:
            coming = layout.coming_steps
            last = self._last(layout)
            if coming is None or last + 1.0 < least:
                layout.last_step = max(last, least - 1.0)
                coming = layout.coming_steps = count(layout.last_step + 1.0)
            return coming

    def _last(self, layout: Layout) -> float:
        """Return the last step, or the one before the first automatic step."""
        is_used = layout.last_step != UNUSED
        return layout.last_step if is_used else self._before(layout.paths[0])

    def _before(self, path: str) -> float:
        return UNUSED if path.startswith(MEASURED) else self._before_first

    def _share(self, layout: Layout) -> None:
        if not layout.is_shared:
            self.share_step(layout, self._last(layout))
            layout.is_shared = True


@lru_cache(maxsize=256)
def _shape(values: int) -> struct.Struct:
    return struct.Struct(f"<QQqd{values}dQ")
