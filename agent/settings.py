"""Reads settings from arguments and the environment."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Mapping
from datetime import datetime
from enum import Enum
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, SupportsIndex, TypeVar

from seamark.capture.choice import (
    chosen,
    chosen_in_text,
    valid_sources,
)
from seamark.errors import InvalidSetting, UnsupportedValue
from seamark.lifecycle.restarts import process_start, resumed_at
from seamark.recording.run_names import readable_name
from seamark.recording.values import to_microseconds
from seamark.servers import Environment, check_url, spool_root, usable_token
from seamark.setting_values import (
    LOCAL_RANK_VARIABLES,
    SAMPLE_SECONDS,
    WORLD_SIZE_VARIABLES,
    checked_fork_from,
    checked_fork_step,
    checked_name,
    checked_sample_seconds,
    checked_stage,
    dataset_folder,
    exit_seconds,
    launched,
    not_absolute,
    rank_of,
    sample_seconds_of,
    spool_files_bytes,
    spool_points_bytes,
    tensorboard_folder,
    too_often_or_seldom,
    usable_name,
    yes_no_or_unset,
    yes_or_no,
)
from seamark.user_warnings import Notices

if TYPE_CHECKING:
    from seamark.capture.relay import Relay


# Another machine's clock, or a file's, may be ahead.
_CLOCK_SKEW_MICROSECONDS = 60_000_000

Meant = TypeVar("Meant")

# Each invalid setting is reported once per process, not per run.
_notices = Notices()


class Mode(str, Enum):
    """The destination of logged data."""

    ONLINE = "online"  # to the server, through the spool
    OFFLINE = "offline"  # only to the spool, until `seamark sync`
    DISABLED = "disabled"  # discarded


# Named tuples, here and in other modules of `import agent`, because the standard
# library's dataclasses take longer to import than half of the agent.
class Settings(NamedTuple):
    """Immutable run configuration of a process."""

    project: str
    run: str
    stage: str
    rank: int
    mode: Mode
    spool: Path
    monitor: bool = True
    # Whether to sample what the training thread executes.
    profile: bool = True
    # Additional sources to store; see agent/capture/choice.py.
    capture: frozenset[str] = frozenset()
    # The process that is measured with its children, if it is not this one.
    watched: int | None = None
    # The namespace of another process that measures this machine for the run, if any.
    measured_by: str | None = None
    # Interval of hardware samples.
    sample_seconds: float = 1.0
    # The index of this process on its machine in a distributed run.
    local_rank: int | None = None
    # The folder of the training data, if set.
    dataset: Path | None = None
    # The start of logged data in microseconds since 1970, if it is not now.
    began_at: int | None = None
    # Sizes of the followed program's output files when it started.
    followed: Mapping[str, int] = {}
    # Relays of the program's terminals and pipes.
    relays: Mapping[str, Relay] = {}
    strict: bool = False
    # Timeout of the end of the script.
    exit_seconds: float = 5.0
    # Maximum bytes of files that wait for delivery.
    spool_files_bytes: int = 50 * 2**30
    # Maximum bytes of all other queued data, if set.
    spool_points_bytes: int | None = None
    # The start of a restarted job in microseconds since 1970; None for other jobs.
    resumed_at: int | None = None
    # Whether the user named the run: only then can a later start find it.
    is_named: bool = True
    # Whether ranks from 1 on log to their own paths.
    separate_ranks: bool = False
    # Whether another process of the run started this one and records its exit.
    is_helper: bool = False
    # Whether it is a child that imports its parent's script again.
    is_imported_again: bool = False
    # Whether to omit the line with the run's address.
    is_quiet: bool = False
    # The number of processes that the launcher started for the job.
    world_size: int = 1
    # The folder of TensorBoard's event files to follow; "" to find them; None for none.
    tensorboard: str | None = None
    # The name or the id of the run that this one is a part of; "" for none.
    parent: str = ""
    # The name or the id of the run that this one continues; "" for none.
    fork_from: str = ""
    # The last step of that run that belongs to this one.
    fork_step: float = 0.0

    @property
    def namespace(self) -> str:
        """The path prefix of the agent's own series, without a trailing slash."""
        below = f"/rank-{self.rank}" if self.rank else ""
        return f"monitoring/{self.stage}{below}"

    @property
    def first_step(self) -> float:
        """The first automatic step of the script's series."""
        return math.floor(self.fork_step) + 1.0 if self.fork_from else 0.0

    @property
    def own_prefix(self) -> str:
        """The prefix of paths logged by this process, with its slash; may be ""."""
        return f"rank-{self.rank}/" if self.separate_ranks and self.rank else ""


def read_settings(
    run: str | None,
    *,
    project: str | None,
    stage: str | None,
    rank: SupportsIndex | None,
    mode: str | None,
    monitor: bool | None,
    strict: bool,
    environment: Environment,
    sample_seconds: float | None = None,
    capture: object = None,
    separate_ranks: bool | None = None,
    resume: bool | None = None,
    quiet: bool | None = None,
    started_at: float | datetime | None = None,
    sync_tensorboard: bool | str | PathLike[str] = False,
    parent: str | None = None,
    fork_from: str | None = None,
    fork_step: float | None = None,
) -> Settings:
    """Return the settings of this process; raises InvalidSetting for invalid arguments.

    Invalid environment variables cause a warning and raise only if `strict`: a job that
    waited hours for its machines must not fail in its first line.
    """
    reader = _VariableReader(environment, is_strict=strict)
    reader.url()
    reader.token()
    settings = Settings(
        project=checked_name("project", project)
        if project
        else reader.name("SEAMARK_PROJECT", "project") or "default",
        run=checked_name("run", run)
        if run
        else reader.name("SEAMARK_RUN", "run") or readable_name(),
        stage=checked_stage(stage) if stage else reader.stage() or "main",
        rank=rank_of(rank, environment),
        mode=_mode(mode) if mode else reader.mode(),
        spool=reader.spool(),
        monitor=reader.yes_or_no("SEAMARK_MONITOR", monitor, otherwise=True),
        profile=reader.yes_or_no("SEAMARK_PROFILE", None, otherwise=True),
        sample_seconds=reader.sample_seconds()
        if sample_seconds is None
        else checked_sample_seconds(sample_seconds),
        local_rank=launched(environment, LOCAL_RANK_VARIABLES),
        world_size=launched(environment, WORLD_SIZE_VARIABLES) or 1,
        dataset=reader.of("SEAMARK_DATASET", dataset_folder, ""),
        capture=reader.capture() if capture is None else chosen(capture),
        strict=strict,
        exit_seconds=reader.of("SEAMARK_EXIT_SECONDS", exit_seconds, "5"),
        spool_files_bytes=reader.of("SEAMARK_SPOOL_GIB", spool_files_bytes, "50"),
        spool_points_bytes=reader.of(
            "SEAMARK_SPOOL_POINTS_GIB", spool_points_bytes, ""
        ),
        resumed_at=resumed_at(
            environment,
            time.time(),
            override=reader.of("SEAMARK_RESUMED", yes_no_or_unset, "")
            if resume is None
            else resume,
            began=process_start,
        ),
        is_named=bool(run or environment.get("SEAMARK_RUN")),
        separate_ranks=reader.yes_or_no(
            "SEAMARK_SEPARATE_RANKS", separate_ranks, otherwise=False
        ),
        is_quiet=reader.yes_or_no("SEAMARK_QUIET", quiet, otherwise=False),
        began_at=None if started_at is None else _past("started_at", started_at),
        tensorboard=tensorboard_folder(sync_tensorboard),
        parent="" if parent is None else checked_name("parent", parent),
    )
    if fork_from is not None or fork_step is not None:
        settings = settings._replace(
            fork_from=checked_fork_from(fork_from),
            fork_step=checked_fork_step(fork_step),
        )
    return settings._replace(
        measured_by=_measured_by(settings, environment.get("SEAMARK_MONITORED"))
    )


def end_of(ended_at: float | datetime, *, began_at: int) -> int:
    """Return the end of a run in microseconds since 1970; not before `began_at`."""
    ended = _past("ended_at", ended_at)
    if ended < began_at:
        raise InvalidSetting(
            "ended_at",
            "must not be before the start of the run; agent.init takes started_at",
        )
    return ended


def _past(setting: str, value: float | datetime) -> int:
    """Return a time that is not in the future, in microseconds since 1970."""
    try:
        moment = to_microseconds(value)
    except UnsupportedValue:
        raise InvalidSetting(
            setting, "must be a datetime, or seconds since 1970"
        ) from None
    if moment > time.time_ns() // 1000 + _CLOCK_SKEW_MICROSECONDS:
        raise InvalidSetting(setting, "must not be in the future")
    return moment


def as_monitored(settings: Settings) -> str:
    """Return the value of SEAMARK_MONITORED for child programs."""
    from seamark.lifecycle.machine import machine_id  # noqa: PLC0415 - `import agent` stays light

    return json.dumps(
        [machine_id(), settings.project, settings.run, settings.namespace]
    )


class _VariableReader:
    """Reads settings from environment variables, with fallbacks for invalid values."""

    def __init__(self, environment: Environment, *, is_strict: bool) -> None:
        self._environment = environment
        self._is_strict = is_strict

    def of(self, variable: str, read: Callable[[str], Meant], default: str) -> Meant:
        """Return a variable's parsed value, or that of the default."""
        text = self._environment.get(variable) or default
        try:
            return read(text)
        except InvalidSetting as error:
            self._refuse(error, f"using {default or 'the default'}")
            return read(default)

    def url(self) -> None:
        url = self._environment.get("SEAMARK_URL")
        try:
            if url:
                check_url(url)
        except InvalidSetting as error:
            self._refuse(error, "nothing is sent until it is valid")

    def token(self) -> None:
        token = self._environment.get("SEAMARK_TOKEN")
        if token and usable_token(token) is None:
            error = InvalidSetting("SEAMARK_TOKEN", "must be a complete token")
            self._refuse(error, "it is ignored")

    def spool(self) -> Path:
        try:
            return spool_root(self._environment)
        except OSError:
            root = spool_root({**self._environment, "SEAMARK_SPOOL": ""})
            self._refuse(not_absolute("SEAMARK_SPOOL"), f"using {root}")
            return root

    def name(self, variable: str, setting: str) -> str:
        """Return a name, or "" if unset; an invalid one is changed as in all other
        processes.
        """
        name = self._environment.get(variable) or ""
        try:
            return checked_name(setting, name) if name else ""
        except InvalidSetting as error:
            usable = usable_name(setting, name)
            self._refuse(error, f"using {usable or 'the default'}")
            return usable

    def stage(self) -> str:
        name = self.name("SEAMARK_STAGE", "stage")
        if "/" in name:
            error = InvalidSetting("SEAMARK_STAGE", "must not contain a slash")
            name = name.replace("/", "-")
            self._refuse(error, f"using {name}")
        return name

    def mode(self) -> Mode:
        return self.of("SEAMARK_MODE", lambda text: _mode(text.lower()), "online")

    def yes_or_no(self, variable: str, chosen: bool | None, *, otherwise: bool) -> bool:
        if chosen is not None:
            return chosen
        return self.of(variable, yes_or_no(variable), "yes" if otherwise else "no")

    def sample_seconds(self) -> float:
        seconds = self.of("SEAMARK_SAMPLE_SECONDS", sample_seconds_of, "1")
        clamped = min(max(seconds, SAMPLE_SECONDS[0]), SAMPLE_SECONDS[1])
        if seconds != clamped:
            self._refuse(
                too_often_or_seldom("SEAMARK_SAMPLE_SECONDS"),
                f"using {clamped:g}",
            )
        return clamped

    def capture(self) -> frozenset[str]:
        text = self._environment.get("SEAMARK_CAPTURE") or "yes"
        try:
            return chosen_in_text(text)
        except InvalidSetting as error:
            sources = valid_sources(text)
            self._refuse(error, f"capturing {', '.join(sorted(sources)) or 'nothing'}")
            return sources

    def _refuse(self, error: InvalidSetting, instead: str) -> None:
        if self._is_strict:
            raise error
        _notices.warn(str(error), f"{str(error).rstrip('.')}; {instead}")


def _mode(mode: str) -> Mode:
    try:
        return Mode(mode)
    except ValueError:
        raise InvalidSetting("mode", "must be online, offline or disabled") from None


def _measured_by(settings: Settings, owner: str | None) -> str | None:
    """Return the namespace of the process that measures this machine; None if there is
    none.
    """
    if not owner:
        return None
    from seamark.lifecycle.machine import machine_id  # noqa: PLC0415 - `import agent` stays light

    try:
        *whose, namespace = json.loads(owner)
    except (ValueError, TypeError, RecursionError):
        return None
    is_ours = whose == [machine_id(), settings.project, settings.run]
    return namespace if is_ours and isinstance(namespace, str) else None
