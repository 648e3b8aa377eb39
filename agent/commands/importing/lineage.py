"""Orders imported runs so that parents precede the runs that refer to them (pure)."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

Item = TypeVar("Item")


def parents_first(
    items: Iterable[Item],
    key: Callable[[Item], Hashable],
    parent: Callable[[Item], Hashable],
) -> list[Item]:
    """Return the items with parents before children, otherwise in their order.

    Missing parents and cycles are ignored.
    """
    known = {key(item): item for item in items}
    ordered: dict[Hashable, Item] = {}
    for start in known:
        chain: dict[Hashable, Item] = {}
        place = start
        while place in known and place not in ordered and place not in chain:
            chain[place] = known[place]
            place = parent(known[place])
        ordered.update(reversed(chain.items()))
    return list(ordered.values())
