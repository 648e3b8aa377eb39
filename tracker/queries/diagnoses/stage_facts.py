"""Reads the facts of a stage, which are not series."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

from django.utils import timezone

from tracker.diagnosis.signals import Fact, Kind, Signal
from tracker.models import Kind as AttributeKind
from tracker.models import Spool, Stage, State
from tracker.queries.diagnoses.best_rates import best_read_rate
from tracker.queries.diagnoses.earlier_runs import read_same_stages
from tracker.queries.diagnoses.signal_paths import gpu_path, of_gpus, of_stage
from tracker.queries.run.attributes import AttributeRow

GPU_COUNT = "facts/gpu_count"


def logged_facts(rows: Mapping[str, AttributeRow]) -> dict[str, Fact]:
    """Return the facts that the run reports."""
    return _present({s.name: _fact(s, rows.get(s.path)) for s in of_stage(Kind.FACT)})


def facts_of_gpu(gpu: int, rows: Mapping[str, AttributeRow]) -> dict[str, Fact]:
    return _present(
        {s.name: _fact(s, rows.get(gpu_path(s, gpu))) for s in of_gpus(Kind.FACT)}
    )


def gpu_count(rows: Mapping[str, AttributeRow]) -> int | None:
    """Return 0 if the driver reports no GPU; otherwise None."""
    row = rows.get(GPU_COUNT)
    count = None if row is None or row.kind == AttributeKind.FLOAT_SERIES else row.value
    return 0 if isinstance(count, int) and count <= 0 else None


def facts_of_stage(stage: Stage) -> dict[str, Fact]:
    """Return facts from the tracker about a stage and the other stages of its run."""
    now = timezone.now()
    stages = list(Stage.objects.filter(run_id=stage.run_id))
    is_running = stage.state == State.RUNNING
    return _present(
        {
            "stage_name": stage.name,
            "stage_state": str(stage.state),
            "stage_share_of_run": _share(stage, stages, now),
            "stage_seconds": _seconds(stage.started_at, stage.ended_at, now) or None,
            "gap_before_stage_seconds": _gap_before(stage, stages),
            "logging_ranks": _logging_ranks(stage),
            "silent_seconds": (
                _seconds(stage.run.last_seen_at, None, now) if is_running else None
            ),
        }
    )


def facts_of_other_runs(stage: Stage, host: Fact | None) -> dict[str, Fact]:
    """Return facts from other runs of the project with such a stage, on this host."""
    best = best_read_rate(stage, host) if isinstance(host, str) else None
    rates = {} if best is None else {"best_read_bytes_per_second": best}
    return {**read_same_stages(stage), **rates}


def _present(facts: Mapping[str, Fact | None]) -> dict[str, Fact]:
    return {name: fact for name, fact in facts.items() if fact is not None}


def _fact(signal: Signal, row: AttributeRow | None) -> Fact | None:
    """Return None if the value does not have the signal's type."""
    value = None if row is None or row.kind == AttributeKind.FLOAT_SERIES else row.value
    if signal.is_text:
        value = ", ".join(value) if isinstance(value, list) else value
        return value if isinstance(value, str) else None
    if not isinstance(value, int | float) or isinstance(value, bool) != signal.is_flag:
        return None
    try:
        return float(value)
    except OverflowError:
        return None


def _logging_ranks(stage: Stage) -> float | None:
    ranks = Spool.objects.filter(stage_id=stage.pk).values_list("rank", flat=True)
    return float(len(set(ranks))) or None


def _share(stage: Stage, stages: Iterable[Stage], now: datetime) -> float | None:
    """Return this stage's share of the time of all stages; None if unknown."""
    seconds = {
        other.pk: _seconds(other.started_at, other.ended_at, now) for other in stages
    }
    total = sum(seconds.values())
    return seconds.get(stage.pk, 0.0) / total if total > 0 else None


def _gap_before(stage: Stage, stages: Iterable[Stage]) -> float | None:
    """Return the time since the end of all previous stages; None if one has not ended."""
    started = stage.started_at
    if started is None:
        return None
    before = [s.ended_at for s in stages if s.started_at and s.started_at < started]
    ends = [end for end in before if end is not None]
    if not ends or len(ends) < len(before):
        return None
    return max(0.0, (started - max(ends)).total_seconds())


def _seconds(
    started_at: datetime | None, ended_at: datetime | None, now: datetime
) -> float:
    if started_at is None:
        return 0.0
    return max(0.0, ((ended_at or now) - started_at).total_seconds())
