"""The time of each line of the user's code, from a profile (pure).

A line's time includes the library calls that it makes: those are what the user can change.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from enum import StrEnum

from tracker.diagnosis.analysis.code_profile import ROOT, CallTree, Node

# Functions that wait, by their module: the last part of their qualified name.
WAITS = tuple(
    (re.compile(module), frozenset(functions.split()))
    for module, functions in {
        r"threading": "wait join _wait_for_tstate_lock acquire",
        r"(multiprocessing\.)?queues?": "get put join",
        r"selectors": "select",
        r"socket": "accept connect create_connection getaddrinfo readinto recv recv_into",
        r"ssl": "read recv recv_into do_handshake",
        r"subprocess": "wait communicate _wait _try_wait _communicate",
        r"multiprocessing\.connection": "wait poll recv recv_bytes _poll _recv accept",
        r"multiprocessing\.popen_\w+": "wait poll",
        r"multiprocessing\.(synchronize|managers)": "wait wait_for acquire",
        r"concurrent\.futures\._base": "result wait exception as_completed",
        r"torch\.cuda(\.streams)?": "synchronize wait",
        r"torch\.distributed(\.\w+)*": "barrier monitored_barrier wait synchronize",
    }.items()
)


class FrameKind(StrEnum):
    OWN = "own"
    PACKAGE = "package"
    WAITING = "waiting"


@dataclass(frozen=True, slots=True)
class LibraryEnd:
    """A library function in which samples of a line end."""

    function: str
    module: str
    samples: int
    share: float  # of the samples of the line
    is_waiting: bool

    @property
    def name(self) -> str:
        return f"{self.module}.{self.function}"


@dataclass(frozen=True, slots=True)
class LineTime:
    """Samples whose innermost frame in the user's code is this line.

    `line` is 0 for samples without any frame in it. `own_samples` end in the line itself,
    the others in `ends`, which begin with the most frequent one.
    """

    function: str
    file: str
    line: int
    samples: int
    share: float  # of all samples
    own_samples: int
    ends: tuple[LibraryEnd, ...]

    @property
    def end(self) -> LibraryEnd | None:
        """Return where most samples end; None: in the line itself."""
        first = next(iter(self.ends), None)
        return first if first and first.samples > self.own_samples else None


def kind_of(node: Node) -> FrameKind:
    if not node.is_library:
        return FrameKind.OWN
    name = node.function.rpartition(".")[2]
    for module, functions in WAITS:
        if name in functions and module.fullmatch(node.where):
            return FrameKind.WAITING
    return FrameKind.PACKAGE


def line_times(tree: CallTree) -> list[LineTime]:
    """Return the lines with samples, the most expensive first."""
    functions: dict[tuple[str, int], Counter[str]] = {}
    ends: dict[tuple[str, int], Counter[Node]] = {}
    for node in tree.nodes:
        if not node.samples:
            continue
        own = innermost_own(tree, node)
        place = (own.where, own.line) if own else ("", 0)
        functions.setdefault(place, Counter())[own.function if own else ""] += (
            node.samples
        )
        of_place = ends.setdefault(place, Counter())
        if node.is_library:
            of_place[_without_position(node)] += node.samples
    found = [
        _line_time(tree, place, functions[place], ends[place]) for place in functions
    ]
    return sorted(found, key=lambda row: (-row.samples, row.file, row.line))


def time_by_kind(tree: CallTree) -> dict[FrameKind, float]:
    """Return the share of the samples that end in frames of each kind, if any."""
    counts: Counter[FrameKind] = Counter()
    for node in tree.nodes:
        counts[kind_of(node)] += node.samples
    return {kind: counts[kind] / tree.samples for kind in FrameKind if counts[kind] > 0}


def innermost_own(tree: CallTree, node: Node) -> Node | None:
    """Return the user's line that leads to a node; None if it is in packages only."""
    while node.is_library:
        if node.parent == ROOT:
            return None
        node = tree.nodes[node.parent]
    return node


def _without_position(node: Node) -> Node:
    """Return a value that is equal for all calls of one function."""
    return Node(ROOT, node.function, node.where, 0, 0, 0)


def _line_time(
    tree: CallTree,
    place: tuple[str, int],
    functions: Counter[str],
    ends: Counter[Node],
) -> LineTime:
    samples = functions.total()
    found = tuple(
        LibraryEnd(
            node.function,
            node.where,
            count,
            count / samples,
            kind_of(node) is FrameKind.WAITING,
        )
        for node, count in ends.most_common()
    )
    ((function, _),) = functions.most_common(1)
    share, own_samples = samples / tree.samples, samples - ends.total()
    return LineTime(function, *place, samples, share, own_samples, found)
