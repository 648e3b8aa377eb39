"""Groups the charts of a page by namespace, what people logged first (pure)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

from tracker.queries.metrics import importance
from tracker.queries.namespaces import MONITORING

TRAINING = "train"
# Sections of so few charts stand beside each other.
SMALL = 2


@dataclass(frozen=True, slots=True)
class Section:
    """Series of one namespace; the agent's own start folded."""

    namespace: str
    paths: list[str]
    is_open: bool
    # Those of the paths that hold histograms, which are drawn as maps.
    histograms: frozenset[str] = frozenset()

    @property
    def is_small(self) -> bool:
        return len(self.paths) <= SMALL


def chart_sections(
    paths: Iterable[str],
    histograms: Iterable[str] = (),
    *,
    opens_all: bool = False,
) -> list[Section]:
    """Group by namespace: training, the others, and what the agent measured.

    Some of the paths may be of histograms.
    """
    ordered = sorted(paths, key=_place)
    maps = frozenset(histograms)
    return [
        Section(
            namespace,
            list(members),
            is_open=opens_all or not namespace.startswith(MONITORING),
            histograms=maps,
        )
        for namespace, members in groupby(ordered, key=namespace_of)
    ]


def namespace_of(path: str) -> str:
    """Return the leading part with its slash; of the agent's own paths, two parts."""
    parts = path.split("/")
    depth = 2 if path.startswith(MONITORING) else 1
    return "/".join(parts[:depth]) + "/" if len(parts) > depth else ""


def _place(path: str) -> tuple[object, ...]:
    namespace = namespace_of(path)
    is_measured = path.startswith(MONITORING)
    is_training = TRAINING in namespace.lower()
    order = path if is_measured else importance(path)
    return is_measured, not is_training, namespace, order
