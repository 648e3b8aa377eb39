"""Reads settings from arguments and the environment."""

from __future__ import annotations

import json
import math
import operator
import re
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from enum import Enum
from os import PathLike, fsdecode
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, SupportsIndex, TypeVar

from seamark.capture.choice import (
    as_yes_or_no,
    chosen,
    chosen_in_text,
    valid_sources,
)
from seamark.errors import InvalidSetting, UnsupportedValue
from seamark.lifecycle.restarts import process_start, resumed_at
from seamark.path import is_encodable
from seamark.recording.run_names import readable_name
from seamark.recording.values import to_microseconds, to_step
from seamark.servers import Environment, check_url, spool_root, usable_token
from seamark.user_warnings import Notices

if TYPE_CHECKING:
    from seamark.capture.relay import Relay

# In characters, as limited by the server.
_LONGEST_NAMES = {
    "project": 200,
    "run": 255,
    "parent": 255,
    "fork_from": 255,
    "stage": 100,
}
# Kernel counters do not change more often; at lower rates the rules lack data.
_SAMPLE_SECONDS = (0.5, 60.0)
# The launcher nearest to the process first: with `mpirun` in a batch script, all ranks
# inherit SLURM's variables of that script.
_LOCAL_RANK_VARIABLES = (
    "LOCAL_RANK",
    "OMPI_COMM_WORLD_LOCAL_RANK",
    "MPI_LOCALRANKID",
    "SLURM_LOCALID",
)
_RANK_VARIABLES = ("RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID")
_WORLD_SIZE_VARIABLES = (
    "WORLD_SIZE",
    "OMPI_COMM_WORLD_SIZE",
    "PMI_SIZE",
    # Unlike SLURM_NTASKS, not set in the batch script, which is one process.
    "SLURM_STEP_NUM_TASKS",
)

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
        project=_name("project", project)
        if project
        else reader.name("SEAMARK_PROJECT", "project") or "default",
        run=_name("run", run)
        if run
        else reader.name("SEAMARK_RUN", "run") or readable_name(),
        stage=_stage(stage) if stage else reader.stage() or "main",
        rank=_rank(rank, environment),
        mode=_mode(mode) if mode else reader.mode(),
        spool=reader.spool(),
        monitor=reader.yes_or_no("SEAMARK_MONITOR", monitor, otherwise=True),
        sample_seconds=reader.sample_seconds()
        if sample_seconds is None
        else _sample_seconds(sample_seconds),
        local_rank=_launched(environment, _LOCAL_RANK_VARIABLES),
        world_size=_launched(environment, _WORLD_SIZE_VARIABLES) or 1,
        dataset=reader.of("SEAMARK_DATASET", _dataset, ""),
        capture=reader.capture() if capture is None else chosen(capture),
        strict=strict,
        exit_seconds=reader.of("SEAMARK_EXIT_SECONDS", _exit_seconds, "5"),
        spool_files_bytes=reader.of("SEAMARK_SPOOL_GIB", _spool_files_bytes, "50"),
        spool_points_bytes=reader.of(
            "SEAMARK_SPOOL_POINTS_GIB", _spool_points_bytes, ""
        ),
        resumed_at=resumed_at(
            environment,
            time.time(),
            override=reader.of("SEAMARK_RESUMED", _perhaps, "")
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
        tensorboard=_tensorboard_folder(sync_tensorboard),
        parent="" if parent is None else _name("parent", parent),
    )
    if fork_from is not None or fork_step is not None:
        settings = settings._replace(
            fork_from=_fork_from(fork_from), fork_step=_fork_step(fork_step)
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
            self._refuse(_is_nowhere("SEAMARK_SPOOL"), f"using {root}")
            return root

    def name(self, variable: str, setting: str) -> str:
        """Return a name, or "" if unset; an invalid one is changed as in all other
        processes.
        """
        name = self._environment.get(variable) or ""
        try:
            return _name(setting, name) if name else ""
        except InvalidSetting as error:
            usable = _usable(setting, name)
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
        return self.of(variable, _yes_or_no(variable), "yes" if otherwise else "no")

    def sample_seconds(self) -> float:
        seconds = self.of("SEAMARK_SAMPLE_SECONDS", _number_of_seconds, "1")
        clamped = min(max(seconds, _SAMPLE_SECONDS[0]), _SAMPLE_SECONDS[1])
        if seconds != clamped:
            self._refuse(
                _too_often_or_seldom("SEAMARK_SAMPLE_SECONDS"),
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


def _usable(setting: str, name: str) -> str:
    """Return a valid and still distinct name; "" if nothing is left of it."""
    name = name.encode("utf-8", "replace").decode().strip()
    longest = _LONGEST_NAMES[setting]
    if len(name) <= longest:
        return name
    import hashlib  # noqa: PLC0415 - seldom

    end = hashlib.sha256(name.encode()).hexdigest()[:16]
    return f"{name[: longest - len(end) - 1]}-{end}"


def _name(setting: str, name: object) -> str:
    usable = isinstance(name, str) and name.strip() and "\0" not in name
    if not isinstance(name, str) or not usable or not is_encodable(name):
        raise InvalidSetting(setting, "must be text, and not empty")
    longest = _LONGEST_NAMES[setting]
    if len(name) > longest:
        raise InvalidSetting(setting, f"must have at most {longest} characters")
    # The value of an enumeration member; its text differs.
    return str.__str__(name)


def _fork_from(name: str | None) -> str:
    if name is None:
        raise InvalidSetting("fork_from", "is required with fork_step")
    return _name("fork_from", name)


def _fork_step(step: float | None) -> float:
    if step is None:
        raise InvalidSetting("fork_step", "is required with fork_from")
    try:
        return to_step(step)
    except UnsupportedValue:
        raise InvalidSetting("fork_step", "must be a number") from None


def _stage(stage: object) -> str:
    name = _name("stage", stage)
    if "/" in name:
        raise InvalidSetting("stage", "must not contain a slash")
    return name


def _rank(rank: SupportsIndex | None, environment: Environment) -> int:
    if rank is None:
        variables: tuple[str, ...] = _RANK_VARIABLES
        if environment.get("NODE_RANK", "0") == "0":
            # Lightning's launcher sets only this; on the first node it is the rank.
            variables = (*variables, "LOCAL_RANK")
        return _launched(environment, variables) or 0
    try:
        # Also accepts integers of numpy and torch.
        number = operator.index(rank)
    except Exception:  # noqa: BLE001 - foreign code
        number = -1
    if number < 0:
        raise InvalidSetting("rank", "must be a number from 0")
    return number


def _launched(environment: Environment, variables: Sequence[str]) -> int | None:
    """Return the first number that a launcher's variables set; None if none does."""
    found = (environment.get(name, "") for name in variables)
    text = next(filter(None, found), "")
    # Some launchers set unused variables to "" or "-1".
    return int(text) if re.fullmatch(r"\d{1,7}", text) else None


def _yes_or_no(variable: str) -> Callable[[str], bool]:
    def read(text: str) -> bool:
        meant = as_yes_or_no(text)
        if meant is None:
            raise InvalidSetting(variable, "must be yes or no")
        return meant

    return read


def _perhaps(text: str) -> bool | None:
    return _yes_or_no("SEAMARK_RESUMED")(text) if text else None


def _mode(mode: str) -> Mode:
    try:
        return Mode(mode)
    except ValueError:
        raise InvalidSetting("mode", "must be online, offline or disabled") from None


def _number_of_seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = float("nan")
    if seconds != seconds:  # noqa: PLR0124 - NaN
        raise InvalidSetting("SEAMARK_SAMPLE_SECONDS", "must be a number of seconds")
    return seconds


def _sample_seconds(seconds: float) -> float:
    try:
        # Also accepts numbers of numpy and torch.
        number = float(seconds)
    except Exception:  # noqa: BLE001 - foreign code
        number = float("nan")
    if not _SAMPLE_SECONDS[0] <= number <= _SAMPLE_SECONDS[1]:
        raise _too_often_or_seldom("sample_seconds")
    return number


def _too_often_or_seldom(setting: str) -> InvalidSetting:
    low, high = _SAMPLE_SECONDS
    return InvalidSetting(setting, f"must be from {low} to {high:g}")


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


def _tensorboard_folder(chosen: bool | str | PathLike[str]) -> str | None:
    if isinstance(chosen, bool):
        return "" if chosen else None
    with suppress(TypeError, OSError):
        # The script may change its working directory.
        folder = str(Path(fsdecode(chosen)).absolute())
        if "\0" not in folder:
            return folder
    raise InvalidSetting("sync_tensorboard", "must be True, False or a folder")


def _dataset(text: str) -> Path | None:
    try:
        return Path(text).absolute() if text else None
    except OSError:
        raise _is_nowhere("SEAMARK_DATASET") from None


def _is_nowhere(variable: str) -> InvalidSetting:
    """Return the error for a relative path in a deleted working directory."""
    return InvalidSetting(
        variable, "must be absolute because the working directory is deleted"
    )


def _spool_files_bytes(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,6}", text):
        raise InvalidSetting("SEAMARK_SPOOL_GIB", "must be a whole number of GiB")
    return int(text) * 2**30


def _spool_points_bytes(text: str) -> int | None:
    if not text:
        return None
    if not re.fullmatch(r"[0-9]{1,6}(\.[0-9]{1,3})?", text):
        raise InvalidSetting(
            "SEAMARK_SPOOL_POINTS_GIB", "must be a number of GiB, like 4 or 0.5"
        )
    return int(float(text) * 2**30)


def _exit_seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < float("inf"):
        raise InvalidSetting("SEAMARK_EXIT_SECONDS", "must be a number of seconds")
    return seconds
