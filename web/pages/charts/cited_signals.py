"""From the values a finding cites to the series they were computed from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tracker.diagnosis.engine.finding import Evidence
from tracker.diagnosis.signals import SIGNALS, Kind
from tracker.queries.series.series import Line
from web.figures.evidence import SHARE, STEP, WAIT, EvidenceSignal

# Kinds with one series each; phases and ranks have many, facts have none.
DRAWN_KINDS = (Kind.PER_STEP, Kind.SAMPLED)
BUSIEST_GPU, ONE_GPU = "busiest_gpu_percent", "gpu_utilization_percent"


def cited_paths(evidence: Sequence[Evidence], scope: str) -> dict[str, str]:
    """Return the path below the stage of each cited signal that is a series.

    Waiting is always shown against the step it is a part of.
    """
    names = list(dict.fromkeys(cited.signal for cited in evidence))
    if WAIT in names:
        names.append(STEP)
    paths = {name: _path(name, scope) for name in names}
    return {name: path for name, path in paths.items() if path}


def cited_signals(
    evidence: Sequence[Evidence], lines: Mapping[str, Line]
) -> list[EvidenceSignal]:
    return [
        EvidenceSignal(
            name=name,
            path=SIGNALS[_drawn(name)].path,
            title=SIGNALS[name].description.removesuffix("."),
            unit=SIGNALS[name].unit,
            line=line,
            limit=_limit(evidence, name),
        )
        for name, line in lines.items()
    ]


def share_limit(evidence: Sequence[Evidence]) -> float | None:
    """Return the limit of the share of step time spent waiting, if one was crossed."""
    limits = [
        cited.limit
        for cited in evidence
        if cited.signal == WAIT and cited.unit == SHARE and cited.limit is not None
    ]
    return limits[0] if limits else None


def _path(name: str, scope: str) -> str:
    signal = SIGNALS.get(_drawn(name))
    if signal is None or signal.kind not in DRAWN_KINDS:
        return ""
    gpu = scope.removeprefix("gpu/") if scope.startswith("gpu/") else "0"
    return signal.path.replace("<i>", gpu)


def _drawn(name: str) -> str:
    """Return the signal to draw for one that is not a series."""
    return ONE_GPU if name == BUSIEST_GPU else name


def _limit(evidence: Sequence[Evidence], name: str) -> float | None:
    limits = [
        cited.limit
        for cited in evidence
        if cited.signal == name and cited.unit == SIGNALS[name].unit
    ]
    return next((limit for limit in limits if limit is not None), None)
