"""The frames of a flame graph, from a call tree (pure)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tracker.diagnosis.analysis.code_lines import FrameKind, kind_of
from tracker.diagnosis.analysis.code_profile import ROOT, CallTree, Node

# Shares of all samples: smaller frames are not drawn.
SMALLEST = 0.002
_KEY_BYTES = 6


@dataclass(frozen=True, slots=True)
class FlameFrame:
    """A frame, as wide as its share; `before` is the share to its left.

    `key` depends on the frame and its callers only, so it stays valid in a live run.
    """

    key: str
    depth: int
    before: float
    share: float
    function: str
    place: str
    kind: FrameKind
    samples: int
    own_samples: int  # that ended here


def flame_frames(tree: CallTree) -> list[FlameFrame]:
    """Return the frames by caller, each directly before its calls, the widest first."""
    calls: dict[int, list[int]] = {}
    for position, node in enumerate(tree.nodes):
        if node.total >= SMALLEST * tree.samples:
            calls.setdefault(node.parent, []).append(position)
    for positions in calls.values():
        positions.sort(key=lambda each: -tree.nodes[each].total)
    return list(_frames(tree, calls))


def place_of(node: Node) -> str:
    """Return the file with the line, or the module."""
    return node.where if node.is_library else f"{node.where}:{node.line}"


def _frames(tree: CallTree, calls: dict[int, list[int]]) -> Iterator[FlameFrame]:
    # Position, depth, samples to the left, key of the caller.
    waiting = _with_places(tree, calls.get(ROOT, ()), 1, 0, "")
    while waiting:
        position, depth, before, caller = waiting.pop()
        node = tree.nodes[position]
        key = _key(caller, node)
        yield FlameFrame(
            key=key,
            depth=depth,
            before=before / tree.samples,
            share=node.total / tree.samples,
            function=node.function,
            place=place_of(node),
            kind=kind_of(node),
            samples=node.total,
            own_samples=node.samples,
        )
        waiting += _with_places(tree, calls.get(position, ()), depth + 1, before, key)


def _with_places(
    tree: CallTree, positions: Sequence[int], depth: int, before: int, caller: str
) -> list[tuple[int, int, int, str]]:
    """Return the calls of a frame, the first one last, as a stack."""
    found = []
    for position in positions:
        found.append((position, depth, before, caller))
        before += tree.nodes[position].total
    return found[::-1]


def _key(caller: str, node: Node) -> str:
    text = f"{caller}\n{node.function}\n{node.where}\n{node.line}"
    return hashlib.blake2b(text.encode(), digest_size=_KEY_BYTES).hexdigest()
