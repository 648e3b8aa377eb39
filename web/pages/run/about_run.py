"""User, machine, hardware and code of a run (pure)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext

from tracker.queries.run.attributes import AttributeRow
from tracker.queries.run.namespaces import monitoring_path
from tracker.queries.run.run import RunOverview, StageRow
from web.pages.run.command_line import short_command

COMMIT, BRANCH, DIRTY = "git/commit", "git/branch", "git/is_dirty"
COMMAND = "source/arguments"
GPU_COUNT, GPU_NAME = "facts/gpu_count", "facts/gpu/0/name"
SHORT_COMMIT = 10
MAX_HOSTS = 3


@dataclass(frozen=True, slots=True)
class AboutRun:
    """Unknown values are "" or None."""

    hosts: tuple[str, ...]
    more_hosts: int
    processes: int  # at once: attempts of one rank follow each other
    gpus: str
    has_no_gpu: bool
    commit: str
    branch: str
    is_dirty: bool | None
    command: str
    stage: str  # the stage whose commit and command are shown

    @property
    def short_command(self) -> str:
        return short_command(self.command)

    @property
    def short_commit(self) -> str:
        return self.commit[:SHORT_COMMIT]


def paths_about(stage: str) -> list[str]:
    """Return the paths to read of the stage that represents the run."""
    return [monitoring_path(stage, path) for path in (COMMIT, BRANCH, DIRTY, COMMAND)]


def about_run(
    overview: RunOverview,
    stage: str,
    values: Mapping[str, AttributeRow],
) -> AboutRun:
    def text(path: str) -> str:
        row = values.get(monitoring_path(stage, path))
        return row.value if row and isinstance(row.value, str) else ""

    dirty = values.get(monitoring_path(stage, DIRTY))
    hosts = _hosts(overview.stages)
    return AboutRun(
        hosts=hosts[:MAX_HOSTS],
        more_hosts=max(0, len(hosts) - MAX_HOSTS),
        processes=max((_ranks(row) for row in overview.stages), default=0),
        gpus=_gpus(overview),
        has_no_gpu=_counts(overview) == {0},
        commit=text(COMMIT),
        branch=text(BRANCH),
        is_dirty=dirty.value if dirty and isinstance(dirty.value, bool) else None,
        command=text(COMMAND),
        stage=stage,
    )


def _ranks(stage: StageRow) -> int:
    return len({process.rank for process in stage.processes})


def _hosts(stages: Sequence[StageRow]) -> tuple[str, ...]:
    hosts = (process.host for stage in stages for process in stage.processes)
    return tuple(dict.fromkeys(host for host in hosts if host))


def _gpus(overview: RunOverview) -> str:
    """Name the GPUs of the first process; other ranks may have as many each."""
    names = {
        str(row.value)
        for stage in overview.stages
        if (row := overview.facts.get(monitoring_path(stage.name, GPU_NAME)))
        and isinstance(row.value, str)
    }
    count = max(_counts(overview), default=0)
    if not names:
        return gettext("%(count)s of unknown type") % {"count": count} if count else ""
    kinds = ", ".join(sorted(names))
    return f"{count} × {kinds}" if count > 1 else kinds


def _counts(overview: RunOverview) -> set[int]:
    found = set()
    for stage in overview.stages:
        row = overview.facts.get(monitoring_path(stage.name, GPU_COUNT))
        if row and isinstance(row.value, int) and not isinstance(row.value, bool):
            found.add(row.value)
    return found
