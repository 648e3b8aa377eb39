"""Counts samples of a thread's call stack in a tree, and writes it as text."""

from __future__ import annotations

import json
import site
import sys
import sysconfig
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from types import CodeType, FrameType

# Version of the text's format.
VERSION = 1
# A script with more places than this has its rarest ones counted at their callers.
MAX_NODES = 4_000
MAX_WRITTEN = 250
MAX_DEPTH = 200
_LONGEST_NAME = 120
# Parts of a path outside of the working folder: more could name people.
_OUTER_PARTS = 2

# Node of the root, and the line of frames in libraries.
ROOT, NO_LINE = 0, 0


class CallTree:
    """Nodes are the places of the calls; each counts the samples that ended there.

    In the user's code a place is a line. Of successive frames in libraries, only the
    first, which the user's code calls, and the last at the end of the stack are kept.
    """

    def __init__(self) -> None:
        self._children: dict[tuple[int, CodeType, int], int] = {}
        self._places: list[tuple[CodeType, int, str] | None] = [None]
        self._parents = [ROOT]
        self._counts = [0]

    @property
    def samples(self) -> int:
        return sum(self._counts)

    def add(self, frame: FrameType | None) -> None:
        """Count one sample: the stack that ends with this frame."""
        node = ROOT
        for code, line, module in _kept(frame):
            key = (node, code, line)
            child = self._children.get(key)
            if child is None:
                if len(self._counts) >= MAX_NODES:
                    break
                child = self._children[key] = len(self._counts)
                self._places.append((code, line, module))
                self._parents.append(node)
                self._counts.append(0)
            node = child
        self._counts[node] += 1

    def written(self, folder: str, names: dict[tuple[str, str, int], int]) -> list[int]:
        """Return the largest nodes as triples: parent, name and samples, in one list.

        A parent is a position in the list of triples, or -1; a name is a position in
        `names`, which is extended: function, file or module, and line, or 0 in a library.
        """
        totals = self._totals()
        largest = sorted(range(1, len(totals)), key=totals.__getitem__, reverse=True)
        # Sorted: a parent has a lower number than its children.
        kept = sorted(largest[:MAX_WRITTEN])
        position = {node: index for index, node in enumerate(kept)}
        counts = dict.fromkeys(kept, 0)
        for node, count in enumerate(self._counts):
            shown = node
            while shown != ROOT and shown not in position:
                shown = self._parents[shown]
            if shown != ROOT:
                counts[shown] += count
        found: list[int] = []
        for node in kept:
            place = self._places[node]
            assert place is not None
            name = names.setdefault(_name(*place, folder), len(names))
            found += [position.get(self._parents[node], -1), name, counts[node]]
        return found

    def _totals(self) -> list[int]:
        totals = list(self._counts)
        for node in range(len(totals) - 1, 0, -1):
            totals[self._parents[node]] += totals[node]
        return totals


def profile_text(trees: dict[str, CallTree], folder: str) -> str:
    """Return the trees as JSON; docs/how-to/code-profile.md describes the format."""
    names: dict[tuple[str, str, int], int] = {}
    written = {name: tree.written(folder, names) for name, tree in trees.items()}
    return json.dumps(
        {
            "version": VERSION,
            "samples": {name: tree.samples for name, tree in trees.items()},
            "names": list(names),
            "trees": written,
        },
        separators=(",", ":"),
    )


def _kept(frame: FrameType | None) -> Sequence[tuple[CodeType, int, str]]:
    """Return the places of a stack, from its beginning."""
    places: list[tuple[CodeType, int, str]] = []
    above: tuple[CodeType, int, str] | None = None  # the last frame in a library
    depth = 0
    while frame is not None and depth < MAX_DEPTH:
        code = frame.f_code
        if is_library(code.co_filename):
            place = (code, NO_LINE, str(frame.f_globals.get("__name__", "")))
            if not places:
                places.append(place)  # where the stack ends
            else:
                above = place
        else:
            if above is not None:
                places.append(above)
                above = None
            places.append((code, frame.f_lineno, ""))
        frame = frame.f_back
        depth += 1
    # Frames above the script, of launchers, are the same in all stacks.
    if above is not None and not any(not module for _, _, module in places):
        places.append(above)
    places.reverse()
    return places


@lru_cache(maxsize=8_192)
def is_library(file: str) -> bool:
    """Return whether code is part of Python or of an installed package."""
    return file.startswith(("<frozen", "<string>", *_folders()))


@lru_cache(maxsize=1)
def _folders() -> tuple[str, ...]:
    paths = sysconfig.get_paths()
    found = {paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    found |= {*site.getsitepackages(), site.getusersitepackages()}
    # Seamark itself may be loaded from another folder.
    folders = {Path(__file__).parents[2], *map(Path, found)}
    folders |= {folder.resolve() for folder in folders}
    return tuple(str(folder / "_")[:-1] for folder in folders)


def _name(code: CodeType, line: int, module: str, folder: str) -> tuple[str, str, int]:
    function = getattr(code, "co_qualname", code.co_name)
    where = module or _shortened(code.co_filename, folder)
    return function[:_LONGEST_NAME], where[-_LONGEST_NAME:], line


def _shortened(file: str, folder: str) -> str:
    """Return a file's path in the working folder, or the end of its path."""
    path = Path(file)
    if file.startswith("<") or not path.is_absolute():
        return file
    if folder and path.is_relative_to(folder):
        return str(path.relative_to(folder))
    if "ipykernel_" in file:
        return "notebook"
    return str(Path(*path.parts[-_OUTER_PARTS:]))


def current_frame(thread: int) -> FrameType | None:
    """Return the frame that a thread executes; None if it has ended or is unknown.

    `sys._current_frames` is documented for such tools. Without the GIL, the frames would
    change while they are read.
    """
    frames = getattr(sys, "_current_frames", None)
    if frames is None or not getattr(sys, "_is_gil_enabled", lambda: True)():
        return None
    found: FrameType | None = frames().get(thread)
    return found
