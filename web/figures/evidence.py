"""The measurements behind a finding, with the limits they crossed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from web.figures.hardware import limit_note, scaled_row
from web.figures.hardware_kinds import COLOURS, GROUPS, WAITING, Kind
from web.figures.rows import Reading, Row
from web.figures.series import Line
from web.figures.smoothing import Smoothing, smoothed
from web.figures.texts import gettext, gettext_noop

# The parts of a step; SHARE is their ratio.
STEP, WAIT = "step_seconds", "data_wait_seconds"
SHARE = "share"
# Single steps are restless; a share speaks of many.
SHARE_SMOOTHING = Smoothing(0.9)
MAX_ROWS = 3
NOTHING_TO_DRAW = gettext_noop("No chart: this evidence has no time series.")


@dataclass(frozen=True, slots=True)
class EvidenceSignal:
    """One signal a finding cites; `limit` only where it is in the signal's own unit."""

    name: str
    path: str  # as the rules know it: "gpu/<i>/memory_used_bytes"
    title: str
    unit: str
    line: Line
    limit: float | None = None


@dataclass(frozen=True, slots=True)
class ShareLine:
    """Smoothed share of step time spent waiting."""

    path: str
    x: NDArray[np.float64]
    mean: NDArray[np.float64]

    @property
    def minimum(self) -> NDArray[np.float64]:
        return self.mean

    @property
    def maximum(self) -> NDArray[np.float64]:
        return self.mean

    @property
    def exact(self) -> bool:
        return True


def evidence_rows(
    signals: Sequence[EvidenceSignal],
    *,
    share_limit: float | None = None,
    first: Sequence[Row] = (),
) -> list[Row]:
    """Make a row of the share of waiting, then one of each kind of signal.

    Rows in `first` come before them.
    """
    signals = [signal for signal in signals if len(signal.line.x)]
    by_name = {signal.name: signal for signal in signals}
    rows = [*first]
    if STEP in by_name and WAIT in by_name:
        share = waiting_share(by_name[STEP].line, by_name[WAIT].line)
        rows.append(_share_row(share, share_limit))

    by_kind: dict[str, list[EvidenceSignal]] = {}
    for signal in signals:
        by_kind.setdefault(_kind(signal).title, []).append(signal)
    rows += [_row(same) for same in by_kind.values()]
    return rows[:MAX_ROWS]


def waiting_share(step: Line, wait: Line) -> ShareLine:
    """Return the share where both were measured; the two are read alike, by time."""
    common, at_step, at_wait = np.intersect1d(step.x, wait.x, return_indices=True)
    steps = smoothed(common, step.mean[at_step], SHARE_SMOOTHING)
    waits = smoothed(common, wait.mean[at_wait], SHARE_SMOOTHING)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = waits / steps
    return ShareLine("share", common, share)


def _share_row(line: ShareLine, limit: float | None) -> Row:
    return Row(
        title=gettext("Share of time spent waiting"),
        unit="%",
        note="" if limit is None else limit_note(limit * 100),
        readings=[
            Reading(
                gettext("waiting for data"),
                [line],
                scale=100.0,
                colour=COLOURS[WAITING],
            )
        ],
        limit=None if limit is None else limit * 100,
        top=105.0,
    )


def _kind(signal: EvidenceSignal) -> Kind:
    """Return the signal's row of the Hardware page, or a separate row."""
    for kind in (kind for group in GROUPS for kind in group.kinds):
        if signal.path in kind.measures:
            return kind
    return Kind(signal.title, signal.unit, {signal.path: signal.title})


def _row(signals: Sequence[EvidenceSignal]) -> Row:
    kind = _kind(signals[0])
    limits = [signal.limit for signal in signals if signal.limit is not None]
    order = list(kind.measures)
    readings = [
        Reading(
            gettext(kind.measures[signal.path]).replace(" <i>", ""),
            [signal.line],
            colour=COLOURS.get(signal.path, ""),
        )
        # As on the Hardware page, so that colors match.
        for signal in sorted(signals, key=lambda signal: order.index(signal.path))
    ]
    return scaled_row(kind, readings, limits[0] if limits else None)
