"""The profile of the training thread: a call tree with samples (pure).

docs/how-to/code-profile.md describes the format, which agent/probes/process/call_tree.py writes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType

import msgspec

VERSION = 1
# Trees: before the second logged step, and from then on.
START, STEPS = "start", "steps"
_VALUES_PER_NODE = 3
MAX_NODES = 1_000
ROOT = -1


@dataclass(frozen=True, slots=True)
class Node:
    """A place in the code, reached by its parents.

    `parent` is a position in the tree, or -1. `where` is a file in the user's code, or
    the module in a library; a library has no `line`. `samples` ended here; `total`
    includes those of the calls from here.
    """

    parent: int
    function: str
    where: str
    line: int
    samples: int
    total: int

    @property
    def is_library(self) -> bool:
        return not self.line


@dataclass(frozen=True, slots=True)
class CallTree:
    """Nodes with parents before their children; `samples` of all, also of rare places."""

    nodes: tuple[Node, ...]
    samples: int

    def stack(self, position: int) -> list[Node]:
        """Return a node with its callers, from the outermost."""
        found = []
        while position != ROOT:
            node = self.nodes[position]
            found.append(node)
            position = node.parent
        return found[::-1]


class _Written(msgspec.Struct):
    version: int
    samples: dict[str, int]
    names: list[tuple[str, str, int]]
    trees: dict[str, list[int]]


# Cached, because each rule of a diagnosis reads the same text.
@lru_cache(maxsize=4)
def parse_profile(text: str) -> Mapping[str, CallTree]:
    """Return the trees by their names; {} if the text is not a profile.

    Clients write the text, so nothing in it is trusted.
    """
    try:
        written = msgspec.json.decode(text, type=_Written)
    except msgspec.DecodeError:
        return MappingProxyType({})
    if written.version != VERSION:
        return MappingProxyType({})
    trees = {}
    for name in (START, STEPS):
        values = written.trees.get(name, [])
        nodes = _nodes(values, written.names)
        counted = sum(node.samples for node in nodes)
        if counted:
            trees[name] = CallTree(nodes, max(counted, written.samples.get(name, 0)))
    return MappingProxyType(trees)


def _nodes(values: list[int], names: list[tuple[str, str, int]]) -> tuple[Node, ...]:
    """Return () if the values are not those of a tree."""
    if len(values) % _VALUES_PER_NODE or len(values) > MAX_NODES * _VALUES_PER_NODE:
        return ()
    triples = list(zip(values[::3], values[1::3], values[2::3], strict=True))
    totals = []
    for index, (parent, name, samples) in enumerate(triples):
        if not (ROOT <= parent < index and 0 <= name < len(names) and samples >= 0):
            return ()
        totals.append(samples)
    for index in range(len(triples) - 1, -1, -1):
        parent = triples[index][0]
        if parent != ROOT:
            totals[parent] += totals[index]
    return tuple(
        Node(parent, *names[name], samples, total)
        for (parent, name, samples), total in zip(triples, totals, strict=True)
    )
