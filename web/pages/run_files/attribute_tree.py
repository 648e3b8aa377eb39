"""A run's attributes as a tree of namespaces; each page has a part of it (pure)."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from tracker.queries.run.attributes import AttributeRow
from tracker.queries.run.files import FileRow
from tracker.queries.run.namespaces import MONITORING

# One level, or one search, never shows more at once.
MAX_SHOWN = 500
# Namespaces logged by the user are open, up to this many attributes.
OPEN_AT_MOST = 20


@dataclass(frozen=True, slots=True)
class Leaf:
    """An attribute or a file; `row` is None before it is read."""

    name: str
    path: str
    row: AttributeRow | FileRow | None = None

    @property
    def key(self) -> str:
        return _key(self.path)


@dataclass(frozen=True, slots=True)
class Branch:
    """A namespace; `level` is None while it is closed."""

    name: str
    prefix: str  # its whole path, slash included
    count: int
    level: Level | None

    @property
    def key(self) -> str:
        return _key(self.prefix)


@dataclass(frozen=True, slots=True)
class Level:
    """A part of the children of a prefix, or of a search result.

    `hidden` more follow after the name `after`. The name of a branch ends with a slash,
    and branches come first.
    """

    branches: tuple[Branch, ...] = ()
    leaves: tuple[Leaf, ...] = ()
    hidden: int = 0

    @property
    def after(self) -> str:
        if self.leaves:
            return self.leaves[-1].name
        return f"{self.branches[-1].name}/" if self.branches else ""

    @property
    def paths(self) -> list[str]:
        """The paths of all leaves that are shown, those of open branches among them."""
        below = (branch.level.paths for branch in self.branches if branch.level)
        return [*chain.from_iterable(below), *(leaf.path for leaf in self.leaves)]

    def filled(self, rows: Mapping[str, AttributeRow] | Mapping[str, FileRow]) -> Level:
        """Return a copy with the rows that were read, without deleted ones."""
        branches = (
            replace(branch, level=branch.level.filled(rows)) if branch.level else branch
            for branch in self.branches
        )
        leaves = (replace(leaf, row=rows.get(leaf.path)) for leaf in self.leaves)
        return replace(
            self,
            branches=tuple(branches),
            leaves=tuple(leaf for leaf in leaves if leaf.row is not None),
        )


def level_below(
    paths: Sequence[str],
    prefix: str,
    *,
    after: str = "",
    opened: Collection[str] = (),
) -> Level:
    """Return the children of the prefix that all of these sorted paths share.

    `opened` are prefixes of branches that the reader has opened, at any depth.
    """
    inside: dict[str, list[str]] = {}
    leaves: list[str] = []
    for path in paths:
        name, slash, _ = path[len(prefix) :].partition("/")
        if slash:
            inside.setdefault(name, []).append(path)
        else:
            leaves.append(path)
    names = [name for name in inside if f"{name}/" > after]
    if after and not after.endswith("/"):
        names, leaves = [], [path for path in leaves if path > prefix + after]

    shown_names = names[:MAX_SHOWN]
    shown = leaves[: MAX_SHOWN - len(shown_names)]
    return Level(
        branches=_branches(
            {name: inside[name] for name in shown_names}, prefix, opened
        ),
        leaves=tuple(Leaf(path[len(prefix) :], path) for path in shown),
        hidden=len(names) - len(shown_names) + len(leaves) - len(shown),
    )


def found_level(paths: Sequence[str], *, after: str = "") -> Level:
    """Return search results, by full path."""
    rest = [path for path in paths if path > after]
    shown = rest[:MAX_SHOWN]
    return Level(
        leaves=tuple(Leaf(path, path) for path in shown), hidden=len(rest) - len(shown)
    )


def trail(prefix: str) -> list[tuple[str, str]]:
    """Return the names and prefixes of the namespaces that lead to a prefix."""
    names = prefix.split("/")[:-1]
    ends = (sum(len(name) + 1 for name in names[: n + 1]) for n in range(len(names)))
    return [(name, prefix[:end]) for name, end in zip(names, ends, strict=True)]


def _key(path: str) -> str:
    """Return an element id derived from the path."""
    return hashlib.blake2b(path.encode(), digest_size=6).hexdigest()


def _branches(
    inside: Mapping[str, Sequence[str]], prefix: str, opened: Collection[str]
) -> tuple[Branch, ...]:
    """Open the requested branches, and the small ones unless their total is large."""
    small = {
        name
        for name, paths in inside.items()
        if len(paths) <= OPEN_AT_MOST and not f"{prefix}{name}/".startswith(MONITORING)
    }
    if sum(len(inside[name]) for name in small) > MAX_SHOWN:
        small = set()
    return tuple(
        Branch(
            name,
            whole := f"{prefix}{name}/",
            len(paths),
            level_below(paths, whole, opened=opened)
            if name in small or whole in opened
            else None,
        )
        for name, paths in inside.items()
    )
