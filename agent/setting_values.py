"""Checks single values of settings, from arguments and environment variables."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from os import PathLike, fsdecode
from pathlib import Path
from typing import SupportsIndex

from seamark.capture.choice import as_yes_or_no
from seamark.errors import InvalidSetting, UnsupportedValue
from seamark.path import is_encodable
from seamark.recording.values import to_step
from seamark.servers import Environment

# In characters, as limited by the server.
LONGEST_NAMES = {
    "project": 200,
    "run": 255,
    "parent": 255,
    "fork_from": 255,
    "stage": 100,
}
# Kernel counters do not change more often; at lower rates the rules lack data.
SAMPLE_SECONDS = (0.5, 60.0)
# The launcher nearest to the process first: with `mpirun` in a batch script, all ranks
# inherit SLURM's variables of that script.
LOCAL_RANK_VARIABLES = (
    "LOCAL_RANK",
    "OMPI_COMM_WORLD_LOCAL_RANK",
    "MPI_LOCALRANKID",
    "SLURM_LOCALID",
)
RANK_VARIABLES = ("RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID")
WORLD_SIZE_VARIABLES = (
    "WORLD_SIZE",
    "OMPI_COMM_WORLD_SIZE",
    "PMI_SIZE",
    # Unlike SLURM_NTASKS, not set in the batch script, which is one process.
    "SLURM_STEP_NUM_TASKS",
)


def usable_name(setting: str, name: str) -> str:
    """Return a valid and still distinct name; "" if nothing is left of it."""
    name = name.encode("utf-8", "replace").decode().strip()
    longest = LONGEST_NAMES[setting]
    if len(name) <= longest:
        return name
    import hashlib  # noqa: PLC0415 - seldom

    end = hashlib.sha256(name.encode()).hexdigest()[:16]
    return f"{name[: longest - len(end) - 1]}-{end}"


def checked_name(setting: str, name: object) -> str:
    usable = isinstance(name, str) and name.strip() and "\0" not in name
    if not isinstance(name, str) or not usable or not is_encodable(name):
        raise InvalidSetting(setting, "must be text, and not empty")
    longest = LONGEST_NAMES[setting]
    if len(name) > longest:
        raise InvalidSetting(setting, f"must have at most {longest} characters")
    # The value of an enumeration member; its text differs.
    return str.__str__(name)


def checked_fork_from(name: str | None) -> str:
    if name is None:
        raise InvalidSetting("fork_from", "is required with fork_step")
    return checked_name("fork_from", name)


def checked_fork_step(step: float | None) -> float:
    if step is None:
        raise InvalidSetting("fork_step", "is required with fork_from")
    try:
        return to_step(step)
    except UnsupportedValue:
        raise InvalidSetting("fork_step", "must be a number") from None


def checked_stage(stage: object) -> str:
    name = checked_name("stage", stage)
    if "/" in name:
        raise InvalidSetting("stage", "must not contain a slash")
    return name


def rank_of(rank: SupportsIndex | None, environment: Environment) -> int:
    if rank is None:
        variables: tuple[str, ...] = RANK_VARIABLES
        if environment.get("NODE_RANK", "0") == "0":
            # Lightning's launcher sets only this; on the first node it is the rank.
            variables = (*variables, "LOCAL_RANK")
        return launched(environment, variables) or 0
    try:
        # Also accepts integers of numpy and torch.
        number = operator.index(rank)
    except Exception:  # noqa: BLE001 - foreign code
        number = -1
    if number < 0:
        raise InvalidSetting("rank", "must be a number from 0")
    return number


def launched(environment: Environment, variables: Sequence[str]) -> int | None:
    """Return the first number that a launcher's variables set; None if none does."""
    found = (environment.get(name, "") for name in variables)
    text = next(filter(None, found), "")
    # Some launchers set unused variables to "" or "-1".
    return int(text) if re.fullmatch(r"\d{1,7}", text) else None


def yes_or_no(variable: str) -> Callable[[str], bool]:
    def read(text: str) -> bool:
        meant = as_yes_or_no(text)
        if meant is None:
            raise InvalidSetting(variable, "must be yes or no")
        return meant

    return read


def yes_no_or_unset(text: str) -> bool | None:
    return yes_or_no("SEAMARK_RESUMED")(text) if text else None


def sample_seconds_of(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = float("nan")
    if seconds != seconds:  # noqa: PLR0124 - NaN
        raise InvalidSetting("SEAMARK_SAMPLE_SECONDS", "must be a number of seconds")
    return seconds


def checked_sample_seconds(seconds: float) -> float:
    try:
        # Also accepts numbers of numpy and torch.
        number = float(seconds)
    except Exception:  # noqa: BLE001 - foreign code
        number = float("nan")
    if not SAMPLE_SECONDS[0] <= number <= SAMPLE_SECONDS[1]:
        raise too_often_or_seldom("sample_seconds")
    return number


def too_often_or_seldom(setting: str) -> InvalidSetting:
    low, high = SAMPLE_SECONDS
    return InvalidSetting(setting, f"must be from {low} to {high:g}")


def tensorboard_folder(chosen: bool | str | PathLike[str]) -> str | None:
    if isinstance(chosen, bool):
        return "" if chosen else None
    with suppress(TypeError, OSError):
        # The script may change its working directory.
        folder = str(Path(fsdecode(chosen)).absolute())
        if "\0" not in folder:
            return folder
    raise InvalidSetting("sync_tensorboard", "must be True, False or a folder")


def dataset_folder(text: str) -> Path | None:
    try:
        return Path(text).absolute() if text else None
    except OSError:
        raise not_absolute("SEAMARK_DATASET") from None


def not_absolute(variable: str) -> InvalidSetting:
    """Return the error for a relative path in a deleted working directory."""
    return InvalidSetting(
        variable, "must be absolute because the working directory is deleted"
    )


def spool_files_bytes(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,6}", text):
        raise InvalidSetting("SEAMARK_SPOOL_GIB", "must be a whole number of GiB")
    return int(text) * 2**30


def spool_points_bytes(text: str) -> int | None:
    if not text:
        return None
    if not re.fullmatch(r"[0-9]{1,6}(\.[0-9]{1,3})?", text):
        raise InvalidSetting(
            "SEAMARK_SPOOL_POINTS_GIB", "must be a number of GiB, like 4 or 0.5"
        )
    return int(float(text) * 2**30)


def exit_seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < float("inf"):
        raise InvalidSetting("SEAMARK_EXIT_SECONDS", "must be a number of seconds")
    return seconds
