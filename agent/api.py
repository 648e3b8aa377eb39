"""The functions a script calls: `init` starts logging, `runs` and `open_run` read back."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, SupportsIndex

from seamark.errors import InvalidSetting
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
    sync_tensorboard: bool | str | os.PathLike[str] = False,
    parent: Run | StoredRun | str | None = None,
    fork_from: Run | StoredRun | str | None = None,
    fork_step: float | None = None,
) -> Run:
    """Create or join the run of that name and start measuring the hardware.

    A running run is joined, also by other stages and ranks. A script that starts again
    after its stage has ended creates another run, `name-2`, unless `resume` is set.

    Never waits for the network. Missing arguments are read from the environment
    variables in parentheses. The run ends with the script: as failed after an exception
    or a nonzero `sys.exit`, otherwise as finished. `raise SystemExit(1)` counts as
    finished because Python does not expose its code, unless the run is used as a
    context manager.

    Args:
        run: The run's name (SEAMARK_RUN); by default a readable name is generated.
        project: The project's name (SEAMARK_PROJECT).
        stage: The part of the run that this script is (SEAMARK_STAGE), by default
            `main`: preprocess, train, infer, ...
        tags: One tag or several to add to the run.
        params: Parameters, nested to any depth; stored under `params/`.
        rank: The process index in a distributed run (RANK, SLURM_PROCID, …).
        monitor: Whether to measure the hardware (SEAMARK_MONITOR), by default yes.
        sample_seconds: Seconds between hardware samples, 0.5 to 60
            (SEAMARK_SAMPLE_SECONDS), by default 1.
        capture: Additional sources to store (SEAMARK_CAPTURE), by default all: True,
            False, or names out of `console`, `environment`, `failure`, `git`, `host`,
            `packages`, `signals` and `source`; names prefixed with a minus are excluded.
        mode: `online`, `offline` (keep everything until `seamark sync`)
            or `disabled` (SEAMARK_MODE).
        strict: Raise an error for data that cannot be stored instead of warning once.
        separate_ranks: Whether ranks from 1 on log and upload under `rank-<rank>/`
            (SEAMARK_SEPARATE_RANKS), by default no: processes that log to one path
            share its chart.
        resume: Whether this script continues the run from a checkpoint
            (SEAMARK_RESUMED), by default only when SLURM or torchrun restarted the job:
            points logged again replace earlier ones from their step on. An API key of
            scope `log` can resume a finished run only if its user passed `resume=True`
            before the run finished.
        quiet: Whether to omit the line with the run's URL (SEAMARK_QUIET), by
            default no.
        started_at: The start time of a run that is logged afterwards: a datetime or
            seconds since 1970. `run.finish(ended_at=...)` sets the end.
        sync_tensorboard: Also log the data of this process's TensorBoard writers: True,
            or the folder of its event files.
        parent: The run that this one is a part of, its name, or its id. Both belong to
            one project. A parent that does not exist yet is created.
        fork_from: The run of the same project whose series this new run continues, its
            name, or its id: series, except hardware metrics, are copied from it.
        fork_step: The last step of `fork_from` that is copied. Automatic steps continue
            after it.

    Raises:
        InvalidSetting: An argument is invalid. An invalid environment variable is
            ignored with a warning, and raises only if `strict`.
    """
    for name, relative in (("parent", parent), ("fork_from", fork_from)):
        if isinstance(relative, Run):
            project = project or relative.project
            if project != relative.project:
                raise InvalidSetting(name, "must belong to the same project")
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
        sync_tensorboard=sync_tensorboard,
        parent=_reference_to(parent),
        fork_from=_reference_to(fork_from),
        fork_step=fork_step,
    )
    if _is_imported_again():
        return _opened_again(settings)
    opened = _opened(settings)
    if params is not None:
        opened["params"] = params
    if tags is not None:
        opened.add_tags(tags)
    return opened


def _reference_to(run: Run | StoredRun | str | None) -> str | None:
    if run is None or isinstance(run, str):
        return run
    # The id survives renames; it is unknown until the server has answered.
    return run.id or run.name


def _opened(settings: Settings) -> Run:
    known = find_open_run(settings)
    if isinstance(known, Run):
        # A notebook cell that runs again continues the same run.
        return known
    run = Run(settings)
    first = claim_names(run)
    if isinstance(first, Run) and first is not run:
        # Another thread created the run first and is starting it.
        return first
    run.start()
    run.announce()
    return run


def _is_imported_again() -> bool:
    """Return whether a multiprocessing child imports the script to find its functions.

    The script's top-level code must have no effects there.
    """
    process = sys.modules.get("multiprocessing.process")
    return process is not None and getattr(
        process.current_process(), "_inheriting", False
    )


def _opened_again(settings: Settings) -> Run:
    """Return a run that logs to the parent's run and starts on its first call.

    The parent prints the notices, measures this process too, and records its end.
    """
    run = Run(
        settings._replace(
            monitor=False,
            capture=frozenset(),
            tensorboard=None,
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
        query: A filter in the query language: `train/loss < 0.3 and tags contains
            "dali"`; by default all runs.
        project: The project's name, slug, or workspace and slug separated by a slash
            (SEAMARK_PROJECT).
        sort: `started`, `name`, `state`, `duration`, or `path:` and an attribute's
            path; a leading `-` reverses the order.
        columns: One attribute path or up to 50 whose values to read for each run.
        limit: The maximum number of runs to return; by default all.

    Raises:
        InvalidSetting: No server is configured.
        CannotRead: The server rejected the request or does not respond.
    """
    # Imported here because training scripts do not need it.
    from seamark.reading.runs import read_runs  # noqa: PLC0415

    return read_runs(query, project=project, sort=sort, columns=columns, limit=limit)


def open_run(name: str, *, project: str | None = None) -> StoredRun:
    """Return a stored run by name or id; the latest if several have the name.

    Args:
        name: The run's name, or its id as in the URL of its page.
        project: As for `runs`. May be omitted with an id, which takes precedence over
            SEAMARK_PROJECT; a project that does not contain the run is an error.

    Raises:
        InvalidSetting: No server is configured.
        CannotRead: The run does not exist, or the server rejected the request or does
            not answer.
    """
    from seamark.reading.runs import read_run  # noqa: PLC0415

    return read_run(name, project=project)
