"""Groups the charts of a page by namespace, user-logged metrics first (pure)."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby

from tracker.queries.run.namespaces import MONITORING
from tracker.queries.series.metrics import importance, quality_rank

TRAINING = "train"
EPOCHS = ("epoch", "epochs")
# Sections with at most this many charts share a row.
SMALL = 2
# How many of the runs have a series; most: at least half.
MAX_RUNS, SOME_RUNS, ONE_RUN = range(3)
FEWEST_SHARING = 2
# From so many on, numbered siblings such as layers.0 to layers.47 have a section.
MIN_SIBLINGS = 8
# Names that frameworks give to parts of a network; other numbered paths stay open.
NUMBERED = re.compile(
    r"((?:.*?[./_-])??(?:layers?|blocks?|h|stages?|experts?|heads?)[./_-]?)(\d+)(?=[./_-]|$)",
    re.IGNORECASE,
)
# Ends the names of such sections; no namespace ends with it.
ANY_NUMBER = "*"
DIGITS = re.compile(r"(\d+)")


@dataclass(frozen=True, slots=True)
class Section:
    """Series of one namespace or of numbered siblings.

    Numbered siblings and the agent's own start folded.
    """

    namespace: str
    paths: list[str]
    is_open: bool

    @property
    def is_small(self) -> bool:
        return len(self.paths) <= SMALL


def chart_sections(
    paths: Iterable[str],
    *,
    opens_all: bool = False,
    folded: Collection[str] = (),
    unfolded: Collection[str] = (),
    sharing: Mapping[str, int] | None = None,
) -> list[Section]:
    """Group by namespace: key metrics first, numbered siblings and monitoring last.

    `folded` and `unfolded` are the namespaces that the reader closed or opened;
    `sharing` is the result of `sharing_of`.
    """
    paths = list(paths)
    spaces = {path: namespace_of(path) for path in paths} | numbered_sections(paths)
    ordered = _ordered(spaces, sharing or {})
    first = spaces[ordered[0]] if ordered else ""
    # A page never opens without a chart.
    opens_first = all(map(_starts_folded, spaces.values()))

    def is_open(namespace: str) -> bool:
        if opens_all or namespace in unfolded:
            return True
        starts_open = not _starts_folded(namespace)
        starts_open |= opens_first and namespace == first
        return starts_open and namespace not in folded

    return [
        Section(namespace, list(members), is_open(namespace))
        for namespace, members in groupby(ordered, key=lambda path: spaces[path])
    ]


def namespace_of(path: str) -> str:
    """Return the leading part with its slash; of the agent's own paths, two parts."""
    parts = path.split("/")
    depth = 2 if path.startswith(MONITORING) else 1
    return "/".join(parts[:depth]) + "/" if len(parts) > depth else ""


def numbered_sections(paths: Iterable[str]) -> dict[str, str]:
    """Return the section of each path that has many siblings with other numbers."""
    numbers: dict[str, set[str]] = defaultdict(set)
    prefixes: dict[str, str] = {}
    for path in paths:
        found = None if path.startswith(MONITORING) else NUMBERED.match(path)
        if found:
            prefixes[path] = found[1]
            numbers[found[1]].add(found[2])
    return {
        path: prefix + ANY_NUMBER
        for path, prefix in prefixes.items()
        if len(numbers[prefix]) >= MIN_SIBLINGS
    }


def _starts_folded(section: str) -> bool:
    return section.startswith(MONITORING) or section.endswith(ANY_NUMBER)


def epoch_path(paths: Iterable[str]) -> str:
    """Return the series that counts epochs, training's before others; "" if none does."""
    counting = [path for path in paths if path.rpartition("/")[2].lower() in EPOCHS]
    counting.sort(key=lambda path: (TRAINING not in path.lower(), path))
    return counting[0] if counting else ""


def sharing_of(run_counts: Mapping[str, int], runs: int) -> dict[str, int]:
    """Rank each series by how many of the runs have it."""

    def rank(count: int) -> int:
        if count < FEWEST_SHARING:
            return ONE_RUN
        return MAX_RUNS if 2 * count >= runs else SOME_RUNS

    return {path: rank(count) for path, count in run_counts.items()}


def _ordered(spaces: Mapping[str, str], sharing: Mapping[str, int]) -> list[str]:
    space_rank: dict[str, tuple[int, bool]] = {}
    for path, space in spaces.items():
        rank = (sharing.get(path, ONE_RUN), quality_rank(path) is None)
        space_rank[space] = min(rank, space_rank.get(space, rank))

    def place(path: str) -> tuple[object, ...]:
        space = spaces[path]
        if path.startswith(MONITORING):
            return 2, space, path
        if space.endswith(ANY_NUMBER):
            return 1, space, _natural(path)
        shared, is_side = space_rank[space]
        is_other = TRAINING not in space.lower()
        rank = sharing.get(path, ONE_RUN), importance(path)
        return 0, shared, is_other, is_side, space, rank

    return sorted(spaces, key=place)


def _natural(path: str) -> list[tuple[str, int]]:
    """Return a key by which layers.2 comes before layers.10."""
    parts = DIGITS.split(path)
    numbers = [int(number) for number in parts[1::2]]
    return list(zip(parts[::2], [*numbers, -1], strict=True))
