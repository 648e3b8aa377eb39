"""What the rows of a run look like: which series the values of each belong to.

A row is what one call logged, as bytes of one shape:

    number u64 · layout u64 · time i64 (µs since 1970) · step f64 · values f64 … · number u64

The number at both ends tells a row that was written whole from one that was not.
docs/formats/ring.md says what lies around rows.
"""

from __future__ import annotations

import struct
import threading
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import count

# What the agent measures counts steps and seconds of each process anew.
MEASURED = "monitoring/"
HEAD = struct.Struct("<QQqd")
TAIL = struct.Struct("<Q")
# Beyond these, a call with many values becomes rows of one value each.
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
        # Whether whoever finds the ring of a process that was killed knows it.
        self.is_defined = False
        # Whether a path of it is in another layout, too.
        self.is_shared = False
        self.last_step = -1.0
        # Those of points without one; what takes the next of them takes it alone.
        self.coming_steps: Iterator[float] | None = None


class StepsDiffer(Exception):
    """The series of a layout are not at the same step."""


class Layouts:
    """All layouts of a process, found by what was logged."""

    def __init__(self, define: Callable[[Layout], bool]) -> None:
        # By a path, or by a dictionary's keys as the user wrote them.
        self.by_key: dict[str | tuple[str, ...], Layout] = {}
        self._define = define
        self._by_paths: dict[tuple[str, ...], Layout] = {}
        self.by_number: dict[int, Layout] = {}
        self._first_of_path: dict[str, Layout] = {}
        # The last step of each path of the layouts that share any.
        self._shared_steps: dict[str, float] = {}
        self._wide = 0
        self._is_used = False
        self._numbers = count(1)
        # Re-entrant, because a signal handler may log while its thread adds one.
        self._adding = threading.RLock()

    def of(self, paths: tuple[str, ...]) -> Layout | None:
        """Return the layout of these paths; None where there are too many of many."""
        known = self._by_paths.get(paths)
        if known is not None:
            return known
        if len(paths) > MAX_VALUES:
            return None
        with self._adding:
            # Another thread may have been quicker.
            known = self._by_paths.get(paths)
            if known is not None:
                return known
            if len(paths) > 1:
                if self._wide >= _MAX_WIDE_LAYOUTS:
                    return None
                self._wide += 1
            return self._add(paths)

    def remember(self, key: str | tuple[str, ...], layout: Layout) -> None:
        """Find a layout by what was logged, the next time."""
        if len(self.by_key) < _MAX_KEYS:
            self.by_key[key] = layout

    @property
    def is_used(self) -> bool:
        """Tell whether the script itself has logged points."""
        self._is_used = self._is_used or self.last_step() >= 0.0
        return self._is_used

    def last_step(self) -> float:
        """Return the last step of all that the script itself has logged, or -1."""
        with self._adding:
            own = [*self.by_number.values()]
        steps = [x.last_step for x in own if not x.paths[0].startswith(MEASURED)]
        return max(steps, default=-1.0)

    def next_step(self, layout: Layout) -> float:
        """Return one more than the last step of a layout's series, if that is one."""
        if layout.is_shared:
            steps = {self._shared_steps[path] for path in layout.paths}
            if len(steps) > 1:
                raise StepsDiffer
            return steps.pop() + 1.0
        coming = layout.coming_steps
        if coming is None:
            with self._adding:
                coming = layout.coming_steps
                if coming is None:
                    coming = layout.coming_steps = count(layout.last_step + 1.0)
        return next(coming)

    def share_step(self, layout: Layout, step: float) -> None:
        """Remember the last step of series that are in other layouts, too."""
        self._shared_steps.update(dict.fromkeys(layout.paths, step))

    def give_back(self, layout: Layout, step: float) -> None:
        """Let the next point have a step that was not used."""
        layout.coming_steps = None
        if layout.last_step == step:
            layout.last_step = step - 1.0
        for path in layout.paths:
            if self._shared_steps.get(path) == step:
                self._shared_steps[path] = step - 1.0

    def define_all(self) -> None:
        """Write down every layout there is, where they have been defined nowhere yet."""
        with self._adding:
            for layout in [*self.by_number.values()]:
                layout.is_defined = self._define(layout)

    def _add(self, paths: tuple[str, ...]) -> Layout:
        layout = Layout(next(self._numbers), paths)
        layout.is_defined = self._define(layout)
        for path in paths:
            first = self._first_of_path.get(path)
            if first is None or self._by_paths.get(first.paths) is not first:
                # There was none; or adding it was interrupted by an exception.
                self._first_of_path[path] = layout
            else:
                self._share(first)
                layout.is_shared = True
        if layout.is_shared:
            for path in paths:
                self._shared_steps.setdefault(path, -1.0)
        self.by_number[layout.number] = layout
        # Last of all: only what is here has been added.
        self._by_paths[paths] = layout
        return layout

    def _share(self, layout: Layout) -> None:
        if not layout.is_shared:
            self.share_step(layout, layout.last_step)
            layout.is_shared = True


@lru_cache(maxsize=256)
def _shape(values: int) -> struct.Struct:
    return struct.Struct(f"<QQqd{values}dQ")
