"""Which run a framework's callback writes to."""

from __future__ import annotations

from agent import hooks
from agent.api import init
from agent.run import Run


def run_for(
    given: Run | str | None, *, rank: int | None = None, name: str | None = None
) -> Run:
    """Return a run, by itself or its name; by default the one that is open already.

    Args:
        given: What the user gave.
        rank: Which process of a distributed run this is, where the framework knows.
        name: The name of a new run, if none is given and none is open.
    """
    run = given if isinstance(given, Run) else None
    if given is None:
        opened = [run for run in hooks.open_runs() if isinstance(run, Run)]
        run = opened[-1] if opened else None
    if run is None:
        return init(given if isinstance(given, str) else name, rank=rank)
    # Rank 0 says little: a process that a scheduler numbers may train by itself.
    if not rank or rank == run.rank:
        return run
    return run_of_rank(run, rank)


def run_of_rank(run: Run, rank: int) -> Run:
    """Return another process's part of a run."""
    return init(
        run.name,
        project=run.project,
        stage=run.stage,
        rank=rank,
        monitor=run.settings.monitor,
        capture=run.settings.capture,
        mode=run.settings.mode.value,
        strict=run.settings.strict,
        separate_ranks=run.settings.separate_ranks,
    )
