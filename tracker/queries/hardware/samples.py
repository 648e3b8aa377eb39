"""Reads the samples of a stage, with their quality."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tracker.diagnosis.signals import Samples, Signal
from tracker.diagnosis.signals.signal import USUAL_QUALITY
from tracker.models import Kind, Stage, State
from tracker.queries.hardware.hardware import READINGS, descriptions_of
from tracker.queries.run.attributes import AttributeRow
from tracker.queries.run.namespaces import monitoring_path
from tracker.queries.series.thinned import Thinned, read_thinned

# The windows of a running stage cover the latest five minutes.
LIVE_SECONDS = 360.0


class Readings:
    """The sampled series of a stage, by path."""

    def __init__(
        self, series: Mapping[str, Thinned], described: Iterable[AttributeRow | None]
    ) -> None:
        self._series = series
        self._qualities = {
            path: each.quality for path, each in descriptions_of(*described).items()
        }

    def of(self, signals: Iterable[tuple[Signal, str]]) -> dict[str, Samples]:
        """Return the samples of these signals, given with their paths, by signal name."""
        return {
            signal.name: self._samples(signal, path)
            for signal, path in signals
            if path in self._series
        }

    def _samples(self, signal: Signal, path: str) -> Samples:
        thinned = self._series[path]
        points = thinned.points.sorted_by_time()
        return Samples(
            points.times,
            points.values,
            # One description covers all GPUs.
            self._qualities.get(signal.path) or USUAL_QUALITY,
            thinned.interval_seconds,
        )


def read_readings(
    stage: Stage, rows: Mapping[str, AttributeRow], requested: Iterable[str]
) -> Readings:
    """Read the samples; long series are thinned, except recent points of a running stage."""
    prefix = monitoring_path(stage.name)
    there = [p for p in requested if p in rows and rows[p].kind == Kind.FLOAT_SERIES]
    whole_seconds = LIVE_SECONDS if stage.state == State.RUNNING else 0.0
    found = read_thinned(
        stage.run, [prefix + path for path in there], whole_seconds=whole_seconds
    )
    series = {path: found[prefix + path] for path in there if prefix + path in found}
    return Readings(series, map(rows.get, READINGS))
