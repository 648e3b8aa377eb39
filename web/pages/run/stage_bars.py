"""The stages of a run over time, as bars (pure)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import datetime

from django.utils.translation import gettext

from tracker.queries.run.run import StageRow
from web.figures.stages import StageBar
from web.templatetags.format import duration, percent

MILLISECONDS = 1_000
# With more processes, a stage has a single bar.
MAX_PROCESS_BARS = 8


def stage_bars(stages: Iterable[StageRow]) -> list[StageBar]:
    """Make a bar of each process, or of very many one for their stage."""
    return [bar for stage in stages for bar in _bars(stage)]


def milliseconds(moment: datetime) -> float:
    return moment.timestamp() * MILLISECONDS


def _bars(stage: StageRow) -> list[StageBar]:
    """Return the bars of a stage; the first one has its GPU utilization."""
    if len(stage.processes) > MAX_PROCESS_BARS:
        return [_one_bar(stage)]
    names = _names(stage)
    bars = []
    for index, process in enumerate(stage.processes):
        end = max(process.last_known, process.started_at)
        parts = [process.state, duration(end - process.started_at)]
        if index == 0:
            parts += _busy(stage)
        bars.append(
            StageBar(
                name=names[index],
                state=process.state,
                start=milliseconds(process.started_at),
                end=milliseconds(end),
                note=", ".join(parts),
            )
        )
    return bars


def _names(stage: StageRow) -> list[str]:
    """Label processes by rank, or attempts of one rank by number."""
    ranks = [process.rank for process in stage.processes]
    if len(ranks) <= 1:
        return [stage.name for _ in ranks]
    if len(set(ranks)) == 1:
        return [
            gettext("%(stage)s · attempt %(number)s")
            % {"stage": stage.name, "number": number + 1}
            for number in range(len(ranks))
        ]
    return [
        gettext("%(stage)s · rank %(rank)s") % {"stage": stage.name, "rank": rank}
        for rank in ranks
    ]


def _one_bar(stage: StageRow) -> StageBar:
    """Make one bar of a stage with so many ranks that they would hide the others."""
    start = min(process.started_at for process in stage.processes)
    end = max(start, *(process.last_known for process in stage.processes))
    states = Counter(process.state for process in stage.processes)
    others = [f"{n} {state}" for state, n in states.items() if state != stage.state]
    parts = [stage.state, duration(stage.duration), *_busy(stage), *others]
    return StageBar(
        name=f"{stage.name} × {len(stage.processes)}",
        state=stage.state,
        start=milliseconds(start),
        end=milliseconds(end),
        note=", ".join(parts),
    )


def _busy(stage: StageRow) -> list[str]:
    busy = []
    if stage.gpu_percent is not None:
        busy.append(
            gettext("GPU idle %(share)s") % {"share": percent(100 - stage.gpu_percent)}
        )
    if stage.cpu_percent is not None:
        busy.append(f"CPU {percent(stage.cpu_percent)}")
    return busy
