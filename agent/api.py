"""init, with which a training script begins, and what reads back what is stored."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, SupportsIndex

from seamark.lifecycle.process_hooks import claim_names, find_open_run
from seamark.run import Run
from seamark.settings import Settings, read_settings

if TYPE_CHECKING:
    from seamark.reading.run import StoredRun
    from seamark.reading.runs import Runs


def init(
    run: str | None = None,
    *,
    project: str | None = None,
    stage: str | None = None,
    tags: Iterable[str] | None = (),
    params: Mapping[str, object] | None = None,
    rank: SupportsIndex | None = None,
    monitor: bool | None = None,
    sample_seconds: float | None = None,
    capture: bool | Iterable[str] | None = None,
    mode: str | None = None,
    strict: bool = False,
    separate_ranks: bool | None = None,
    resume: bool | None = None,
    quiet: bool | None = None,
    started_at: float | datetime | None = None,
) -> Run:
    """Create the run of that name, or join it, and start measuring the hardware.

    Never waits for the network. What is not given is looked up in the environment,
    under the name in parentheses. The run ends with the script: failed after an
    exception or a `sys.exit` that says so, else finished, even after `raise
    SystemExit(1)`, whose code Python tells nobody. As a context manager the run sees
    that, too.

    Args:
        run: The run's name (SEAMARK_RUN); a readable one is made if there is none.
        project: The project's name (SEAMARK_PROJECT).
        stage: Which part of the run this script is (SEAMARK_STAGE), by default
            `main`: preprocess, train, infer, ...
        tags: Tags to add to the run, or one.
        params: Parameters, nested as they like; stored below `params/`.
        rank: Which process of a distributed run this is (RANK, SLURM_PROCID, …).
        monitor: Whether to measure the hardware (SEAMARK_MONITOR), by default yes.
        sample_seconds: How often to, from 0.5 to 60 (SEAMARK_SAMPLE_SECONDS), by
            default every second.
        capture: What to store besides (SEAMARK_CAPTURE), by default everything: True,
            False, or names out of `console`, `environment`, `failure`, `git`, `host`,
            `packages`, `signals` and `source`; each with a minus before it: all others.
        mode: `online`, `offline` (keep everything until `seamark sync`)
            or `disabled` (SEAMARK_MODE).
        strict: Raise what cannot be stored instead of warning once.
        separate_ranks: Whether what ranks from 1 on append, log and upload lies below
            `rank-<rank>/` (SEAMARK_SEPARATE_RANKS), by default not: several processes
            that log to one path share its chart.
        resume: Whether this script goes on with the run from a checkpoint
            (SEAMARK_RESUMED), by default only when SLURM or torchrun restarted the job:
            points logged again replace earlier ones from their step on. A token that
            may only log can resume a finished run only if its user passed `resume=True`
            before the run finished.
        quiet: Whether to leave out the line with the run's address (SEAMARK_QUIET), by
            default not.
        started_at: When the run started, if it is logged later: a datetime or seconds
            since 1970. `run.finish(ended_at=...)` sets the end.

    Raises:
        InvalidSetting: An argument cannot be used. A variable of the environment that
            cannot is warned of and passed over, and raises only if `strict`.
    """
    settings = read_settings(
        run,
        project=project,
        stage=stage,
        rank=rank,
        mode=mode,
        monitor=monitor,
        sample_seconds=sample_seconds,
        capture=capture,
        strict=strict,
        environment=os.environ,
        separate_ranks=separate_ranks,
        resume=resume,
        quiet=quiet,
        started_at=started_at,
    )
    if _is_imported_again():
        return _opened_again(settings)
    opened = _opened(settings)
    if params is not None:
        opened["params"] = params
    if tags is not None:
        opened.add_tags(tags)
    return opened


def _opened(settings: Settings) -> Run:
    known = find_open_run(settings)
    if isinstance(known, Run):
        # A notebook cell that runs again goes on with the same run.
        return known
    run = Run(settings)
    first = claim_names(run)
    if isinstance(first, Run) and first is not run:
        # Another thread was quicker, and is just starting it.
        return first
    run.start()
    run.announce()
    return run


def _is_imported_again() -> bool:
    """Whether a child of multiprocessing imports the script, to find functions in it.

    What stands at its top is not meant to happen again there.
    """
    process = sys.modules.get("multiprocessing.process")
    return process is not None and getattr(
        process.current_process(), "_inheriting", False
    )


def _opened_again(settings: Settings) -> Run:
    """Return what may log to the parent's run, and starts nothing until it does.

    The parent has said what there is to say, measures this process too, and sees its end.
    """
    run = Run(
        settings._replace(
            monitor=False,
            capture=frozenset(),
            is_helper=True,
            is_imported_again=True,
        )
    )
    first = claim_names(run)
    return first if isinstance(first, Run) else run


def runs(
    query: str = "",
    *,
    project: str | None = None,
    sort: str = "-started",
    columns: Sequence[str] | str = (),
    limit: int | None = None,
) -> Runs:
    """Return the runs of a project.

    Args:
        query: Which ones, in the query language: `train/loss < 0.3 and tags contains
            "dali"`; by default all.
        project: The project's name, slug, or workspace and slug with a slash between
            (SEAMARK_PROJECT).
        sort: `started`, `name`, `state`, `duration`, or `path:` and an attribute's
            path; a `-` before it turns the order around.
        columns: Up to 50 paths of attributes whose values are wanted for each run, or
            one.
        limit: The most runs to return; by default all.

    Raises:
        InvalidSetting: No server is known.
        CannotRead: The server refused, or does not answer.
    """
    # Imported here: training scripts need none of it.
    from seamark.reading.runs import read_runs  # noqa: PLC0415

    return read_runs(query, project=project, sort=sort, columns=columns, limit=limit)


def open_run(name: str, *, project: str | None = None) -> StoredRun:
    """Return a stored run by its name or id; the latest, where several have the name.

    Args:
        name: The run's name, or its id as the address of its page has it.
        project: As for `runs`. With an id it may be left out, whatever SEAMARK_PROJECT
            says; one that is another than the run's is refused.

    Raises:
        InvalidSetting: No server is known.
        CannotRead: There is no such run, the server refused, or it does not answer.
    """
    from seamark.reading.runs import read_run  # noqa: PLC0415

    return read_run(name, project=project)
