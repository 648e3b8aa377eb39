"""Groups the charts of a page by namespace, user-logged metrics first (pure)."""

from __future__ import annotations

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


@dataclass(frozen=True, slots=True)
class Section:
    """Series of one namespace; the agent's own start folded."""

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
    """Group by namespace: shared and key metrics first, monitoring last.

    `folded` and `unfolded` are the namespaces that the reader closed or opened;
    `sharing` is the result of `sharing_of`.
    """
    ordered = _ordered(list(paths), sharing or {})

    def is_open(namespace: str) -> bool:
        if opens_all or namespace in unfolded:
            return True
        return namespace not in folded and not namespace.startswith(MONITORING)

    return [
        Section(namespace, list(members), is_open(namespace))
        for namespace, members in groupby(ordered, key=namespace_of)
    ]


def namespace_of(path: str) -> str:
    """Return the leading part with its slash; of the agent's own paths, two parts."""
    parts = path.split("/")
    depth = 2 if path.startswith(MONITORING) else 1
    return "/".join(parts[:depth]) + "/" if len(parts) > depth else ""


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


def _ordered(paths: Collection[str], sharing: Mapping[str, int]) -> list[str]:
    spaces = {path: namespace_of(path) for path in paths}
    space_rank: dict[str, tuple[int, bool]] = {}
    for path, space in spaces.items():
        rank = (sharing.get(path, ONE_RUN), quality_rank(path) is None)
        space_rank[space] = min(rank, space_rank.get(space, rank))

    def place(path: str) -> tuple[object, ...]:
        space = spaces[path]
        if path.startswith(MONITORING):
            return True, space, path
        shared, is_side = space_rank[space]
        is_other = TRAINING not in space.lower()
        rank = sharing.get(path, ONE_RUN), importance(path)
        return False, shared, is_other, is_side, space, rank

    return sorted(paths, key=place)
