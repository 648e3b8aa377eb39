"""Groups the charts of a page by namespace, what people logged first (pure)."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from itertools import groupby

from tracker.queries.metrics import importance
from tracker.queries.namespaces import MONITORING

TRAINING = "train"
EPOCHS = ("epoch", "epochs")
# Sections of so few charts stand beside each other.
SMALL = 2


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
) -> list[Section]:
    """Group by namespace: training, the others, and what the agent measured.

    `folded` and `unfolded` are the namespaces that the reader wants closed or open.
    """
    ordered = sorted(paths, key=_place)

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


def _place(path: str) -> tuple[object, ...]:
    namespace = namespace_of(path)
    is_measured = path.startswith(MONITORING)
    is_training = TRAINING in namespace.lower()
    order = path if is_measured else importance(path)
    return is_measured, not is_training, namespace, order
