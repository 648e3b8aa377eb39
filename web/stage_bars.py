"""When the stages of a run ran, as bars: what their figure draws (pure)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import datetime

from tracker.queries.run import StageRow
from web.figures.stages import StageBar
from web.templatetags.format import duration, percent

MILLISECONDS = 1_000
# Of more processes, a stage has one bar.
MOST_PROCESS_BARS = 8


def stage_bars(stages: Iterable[StageRow]) -> list[StageBar]:
    """Make a bar of each process, or of very many one for their stage."""
    return [bar for stage in stages for bar in _bars(stage)]


def milliseconds(moment: datetime) -> float:
    return moment.timestamp() * MILLISECONDS


def _bars(stage: StageRow) -> list[StageBar]:
    """The first bar says how busy the stage was."""
    if len(stage.processes) > MOST_PROCESS_BARS:
        return [_one_bar(stage)]
    several = len(stage.processes) > 1
    bars = []
    for index, process in enumerate(stage.processes):
        end = max(process.last_known, process.started_at)
        parts = [process.state, duration(end - process.started_at)]
        if index == 0:
            parts += _busy(stage)
        bars.append(
            StageBar(
                name=f"{stage.name} · rank {process.rank}" if several else stage.name,
                state=process.state,
                start=milliseconds(process.started_at),
                end=milliseconds(end),
                note=", ".join(parts),
            )
        )
    return bars


def _one_bar(stage: StageRow) -> StageBar:
    """Make one bar of a stage with so many ranks that they would hide the others."""
    start = min(process.started_at for process in stage.processes)
    end = max(start, *(process.last_known for process in stage.processes))
    states = Counter(process.state for process in stage.processes)
    others = [f"{n} {state}" for state, n in states.items() if state != stage.state]
    took, ranks = duration(end - start), f"{len(stage.processes)} processes"
    parts = [stage.state, took, *_busy(stage), ranks, *others]
    return StageBar(
        name=stage.name,
        state=stage.state,
        start=milliseconds(start),
        end=milliseconds(end),
        note=", ".join(parts),
    )


def _busy(stage: StageRow) -> list[str]:
    busy = []
    if stage.gpu_percent is not None:
        busy.append(f"GPU idle {percent(100 - stage.gpu_percent)}")
    if stage.cpu_percent is not None:
        busy.append(f"CPU {percent(stage.cpu_percent)}")
    return busy
