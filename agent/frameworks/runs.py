"""Selects the run that a framework's callback writes to."""

from __future__ import annotations

from multiprocessing.context import get_spawning_popen

from seamark.api import init
from seamark.lifecycle import process_hooks
from seamark.run import Run


def meant_run(given: Run | str | None) -> Run | None:
    """Return the selected run if it is open in this process; if several are, the last.

    Args:
        given: The run, or its name; None selects any open run.
    """
    if isinstance(given, Run):
        return given
    # The script selected project and stage; a name alone does not contain them.
    opened = [
        run
        for run in process_hooks.open_runs()
        if isinstance(run, Run) and given in (None, run.name)
    ]
    return opened[-1] if opened else None


def for_child(given: Run | str | None) -> Run | str | None:
    """Return a picklable selection: a spawned process has no open runs.

    Outside of spawning, the selection stays as it is and is resolved on use.
    """
    if get_spawning_popen() is None:
        return given
    return meant_run(given) or given


def run_for(
    given: Run | str | None, *, rank: int | None = None, name: str | None = None
) -> Run:
    """Return the selected run; by default the open run, or else a new one.

    Args:
        given: The user's `run` argument.
        rank: The rank of this process in distributed training, if known.
        name: The name of a new run, if `given` is None and no run is open.
    """
    run = meant_run(given)
    if run is None:
        return init(given if isinstance(given, str) else name, rank=rank)
    # Rank 0 is ambiguous: a process with a rank from a scheduler may train alone.
    if not rank or rank == run.rank:
        return run
    return run_of_rank(run, rank)


def run_of_rank(run: Run, rank: int) -> Run:
    """Return the run of the same name for another rank."""
    settings = run.settings
    return _run_like(
        run,
        name=run.name,
        rank=rank,
        parent=settings.parent or None,
        fork_from=settings.fork_from or None,
        fork_step=settings.fork_step if settings.fork_from else None,
    )


def run_beside(run: Run, name: str) -> Run:
    """Return a run with that name in the same project and stage, with equal settings."""
    return _run_like(run, name=name, rank=run.rank, parent=run)


def _run_like(
    run: Run,
    *,
    name: str,
    rank: int,
    parent: Run | str | None = None,
    fork_from: str | None = None,
    fork_step: float | None = None,
) -> Run:
    return init(
        name,
        project=run.project,
        stage=run.stage,
        rank=rank,
        monitor=run.settings.monitor,
        capture=run.settings.capture,
        mode=run.settings.mode.value,
        strict=run.settings.strict,
        separate_ranks=run.settings.separate_ranks,
        parent=parent,
        fork_from=fork_from,
        fork_step=fork_step,
    )
