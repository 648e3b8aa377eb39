"""Which run a framework's callback writes to."""

from __future__ import annotations

from multiprocessing.context import get_spawning_popen

from seamark.api import init
from seamark.lifecycle import process_hooks
from seamark.run import Run


def meant_run(given: Run | str | None) -> Run | None:
    """Return the run that is meant, if this process has it open; of several, the last.

    Args:
        given: The run, or its name; None means any.
    """
    if isinstance(given, Run):
        return given
    # Its project and its stage are the script's: by a name alone they are not known.
    opened = [
        run
        for run in process_hooks.open_runs()
        if isinstance(run, Run) and given in (None, run.name)
    ]
    return opened[-1] if opened else None


def for_child(given: Run | str | None) -> Run | str | None:
    """Return what is meant, as it travels: a process that is spawned has no open runs.

    Copies that stay here go on meaning what is open when they are used.
    """
    if get_spawning_popen() is None:
        return given
    return meant_run(given) or given


def run_for(
    given: Run | str | None, *, rank: int | None = None, name: str | None = None
) -> Run:
    """Return a run, by itself or its name; by default the one that is open already.

    Args:
        given: What the user gave.
        rank: Which process of a distributed run this is, where the framework knows.
        name: The name of a new run, if none is given and none is open.
    """
    run = meant_run(given)
    if run is None:
        return init(given if isinstance(given, str) else name, rank=rank)
    # Rank 0 says little: a process that a scheduler numbers may train by itself.
    if not rank or rank == run.rank:
        return run
    return run_of_rank(run, rank)


def run_of_rank(run: Run, rank: int) -> Run:
    """Return another process's part of a run."""
    return _run_like(run, name=run.name, rank=rank)


def run_beside(run: Run, name: str) -> Run:
    """Return a run of that name, of the same project and stage, and set up the same."""
    return _run_like(run, name=name, rank=run.rank)


def _run_like(run: Run, *, name: str, rank: int) -> Run:
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
    )
