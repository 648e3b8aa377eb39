"""W&B's text files of a run: system metrics, history and metadata (pure).

`wandb-events.jsonl` has means over a sampling interval (15 s by default),
`wandb-history.jsonl` the values that the script logged. Each line is a JSON object.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Any, TypeGuard

from seamark.importers.problems import Problems
from seamark.importers.reading import LARGEST, FileFacts, Reading
from seamark.importers.wandb_fields import (
    COMMON,
    CORES,
    GPU,
    GPU_FIELDS,
    HOST_CPU,
    HOST_FIELDS,
    KNOWN,
    OLD_ONLY,
    PROCESS_GPU,
    base_name,
    is_system_metric,
    rate_of,
)

_MICROSECONDS = 1_000_000
_LOOKED_AT = 256  # lines
_LATEST = 253_370_764_800.0  # the year 9999, in seconds
_DEEPEST = 8
_MAX_PATHS = 10_000
_DIGITS = 18  # fit into 64 bits
_MOST = 1_000_000  # maximum number of cores or GPUs
_SHOWN = 60  # characters
# W&B's spelling of numbers that JSON does not support.
SPECIAL = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}

# Any: untrusted JSON, here and below.
Row = Mapping[str, Any]


@dataclass
class Machine:
    """Facts about the machine, needed to interpret percentages."""

    cores: int | None = None
    gpu_count: int | None = None
    gpu_bytes: dict[int, float] = field(default_factory=dict)
    # GPUs that other jobs use.
    other_gpus: set[int] = field(default_factory=set)
    # The start of `_runtime`, for rows without `_timestamp`.
    start: int | None = None  # microseconds since 1970


def are_events(lines: Iterable[str]) -> bool:
    """Return whether most names in the lines are system metrics, not logged by a
    script.
    """
    keys = {key for line in lines for key in _keys(line)} - COMMON
    return 2 * sum(map(is_system_metric, keys)) > len(keys)


def _keys(line: str | Row) -> Iterator[str]:
    """Yield a line's names, without those that W&B puts into every line."""
    try:
        row = json.loads(line) if isinstance(line, str) else line
    except (ValueError, RecursionError):
        return
    if isinstance(row, dict):
        yield from (key for key in row if not key.startswith("_"))


def read_events(
    lines: Iterable[str | Row], problems: Problems, machine: Machine
) -> Iterator[Reading]:
    """Yield the system metrics of each line.

    Where the file names the GPUs of the run's own process, other GPUs are left out:
    other jobs use them.
    """
    rates = _Rates()
    lines = iter(lines)
    first = list(islice(lines, _LOOKED_AT))
    own_gpus = {gpu for line in first for gpu in _process_gpus(_keys(line))}
    for number, row, moment in _rows(chain(first, lines), problems, machine):
        own_gpus |= _process_gpus(row)
        values: dict[str, float] = {}
        cores: list[float] = []
        totals: dict[str, float] = {}
        metrics = {base_name(key): value for key, value in _metrics(row)}
        for name, value in metrics.items():
            if name.startswith("_") or name in KNOWN:
                continue
            gpu = _gpu_number(name)
            if own_gpus and gpu is not None and gpu not in own_gpus:
                if gpu not in machine.other_gpus:
                    machine.other_gpus.add(gpu)
                    problems.add(
                        f"GPU {gpu} is skipped: this run does not use it", number
                    )
                continue
            amount = _measured(value)
            if amount is None:
                problems.add(f"the value of {name[:_SHOWN]!a} is not a number", number)
                continue
            if CORES.fullmatch(name):
                cores.append(amount)
            elif rate_of(name) is not None:
                totals[name] = amount
            elif name == "cpu" and OLD_ONLY in metrics:
                values[HOST_CPU] = amount
            elif not _add(values, name, amount, machine):
                problems.add(
                    f"{name[:_SHOWN]!a} is skipped: Seamark has no such metric", number
                )
        if cores:
            values[HOST_CPU] = sum(cores) / len(cores)
        values |= rates.of(totals, moment)
        if values:
            yield Reading(moment, values)


def _metrics(row: Row) -> Iterator[tuple[str, object]]:
    """Yield the metrics of a line; old versions of W&B group those of the network."""
    for key, value in row.items():
        if isinstance(value, dict):
            yield from ((f"{key}.{name}", inner) for name, inner in value.items())
        else:
            yield key, value


def _gpu_number(name: str) -> int | None:
    found = GPU.fullmatch(name)
    return int(found[1]) if found else None


def _process_gpus(keys: Iterable[str]) -> set[int]:
    """Return the GPUs on which the run's own process was measured."""
    return {int(found[1]) for key in keys if (found := PROCESS_GPU.match(key))}


def read_history(
    lines: Iterable[str | Row], problems: Problems, machine: Machine
) -> Iterator[Reading]:
    """Yield the numbers that the script logged, under the names it gave them.

    Texts and media are left as they are in the file.
    """
    paths: set[str] = set()
    for number, row, moment in _rows(lines, problems, machine):
        values: dict[str, float] = {}
        others: dict[str, object] = {}
        for path, value in leaves("", row, 0):
            if path.startswith("_"):
                continue
            amount = SPECIAL.get(value) if isinstance(value, str) else to_float(value)
            is_other = isinstance(value, str) or _is_media(value)
            if amount is None and not is_other:
                problems.add(f"the value of {path[:_SHOWN]!a} is not a number", number)
                continue
            if path not in paths and len(paths) >= _MAX_PATHS:
                problems.add(f"there are more than {_MAX_PATHS:,} names", number)
                continue
            paths.add(path)
            if amount is None:
                others[path] = value
            else:
                values[path] = amount
        if values or others:
            step = _measured(row.get("_step"))
            yield Reading(moment, values, step, is_users=True, others=others)


def read_metadata(text: str, file_facts: FileFacts) -> Machine:
    """Return the machine described by `wandb-metadata.json`."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return Machine()
    return machine_of(found, file_facts) if isinstance(found, dict) else Machine()


def machine_of(found: Row, file_facts: FileFacts) -> Machine:
    """Return the machine that W&B describes, and add its facts."""
    machine = Machine()
    for name, path in (("host", "host"), ("os", "platform"), ("python", "python")):
        if isinstance(found.get(name), str):
            file_facts.add(path, found[name][:200])
    cores, physical = found.get("cpu_count_logical"), found.get("cpu_count")
    if cores is None:
        # Old versions of W&B have one count, of logical cores.
        cores, physical = physical, None
    if _is_count(cores):
        machine.cores = cores
        file_facts.add("host_cores", cores)
    if _is_count(physical):
        file_facts.add("physical_cores", physical)
    count = found.get("gpu_count")
    if _is_count(count):
        machine.gpu_count = count
        file_facts.add("gpu_count", count)
    devices = found.get("gpu_nvidia")
    if not isinstance(devices, list):
        devices = found.get("gpu_devices")
    if not isinstance(devices, list) and isinstance(found.get("gpu"), str):
        devices = [{"name": found["gpu"]}]
    for number, device in enumerate(devices if isinstance(devices, list) else []):
        if isinstance(device, dict) and number < _MAX_PATHS:
            _state_gpu(number, device, machine, file_facts)
    return machine


def drop_other_gpus(machine: Machine, file_facts: FileFacts) -> None:
    """Remove the facts of GPUs that other jobs use, after the events were read."""
    facts, others = file_facts.facts, machine.other_gpus
    if others and machine.gpu_count is not None:
        # Not the count in the facts: the files of a run may be read one by one.
        facts["gpu_count"] = machine.gpu_count - len(others)
    for path in [path for path in facts if path.startswith("gpu/")]:
        if int(path.split("/")[1]) in others:
            del facts[path]


def _state_gpu(
    number: int, device: Row, machine: Machine, file_facts: FileFacts
) -> None:
    if isinstance(device.get("name"), str):
        file_facts.add(f"gpu/{number}/name", device["name"][:200])
    for name in ("memoryTotal", "memory_total"):
        # A string, because JavaScript has no 64-bit integers.
        memory = device.get(name)
        if isinstance(memory, str) and memory.isdecimal() and len(memory) <= _DIGITS:
            memory = int(memory)
        total = to_float(memory)
        if total is not None and 0 < total <= LARGEST:
            machine.gpu_bytes[number] = total
            file_facts.add(f"gpu/{number}/memory_total_bytes", int(total))


def _rows(
    lines: Iterable[str | Row], problems: Problems, machine: Machine
) -> Iterator[tuple[int, Row, int]]:
    """Yield the objects of lines that have a time, with their number and time."""
    for number, line in enumerate(lines, 1):
        if isinstance(line, str) and not line.strip():
            continue
        try:
            row = json.loads(line) if isinstance(line, str) else line
        except (ValueError, RecursionError):
            # Often the last line, if the writer was killed.
            problems.add("it is not JSON", number)
            continue
        if not isinstance(row, dict):
            problems.add("it is not an object", number)
            continue
        moment = _moment(row, machine)
        if moment is None:
            problems.add("it has no time", number)
            continue
        yield number, row, moment


def _moment(row: Row, machine: Machine) -> int | None:
    stamp = to_float(row.get("_timestamp"))
    if stamp is not None and 0 <= stamp < _LATEST:
        return round(stamp * _MICROSECONDS)
    runtime = to_float(row.get("_runtime"))
    if runtime is None or machine.start is None or not 0 <= runtime < _LATEST:
        return None
    return machine.start + round(runtime * _MICROSECONDS)


def _add(values: dict[str, float], name: str, amount: float, machine: Machine) -> bool:
    """Add a metric's value; return False if there is no path for it."""
    of_gpu = GPU.fullmatch(name)
    if of_gpu:
        number, kind = int(of_gpu[1]), of_gpu[2]
        if kind == "memoryAllocated":
            total = machine.gpu_bytes.get(number)
            path = f"gpu/{number}/memory_used_bytes"
            if total is not None:
                values.setdefault(path, amount / 100 * total)
            else:
                values[f"gpu/{number}/memory_used_share"] = amount / 100
            return True
        known = GPU_FIELDS.get(kind)
        if known is not None:
            values[f"gpu/{number}/{known}"] = amount
        return known is not None
    if name == "cpu":
        if machine.cores:
            values["job/main_cpu_cores"] = amount / 100 * machine.cores
        return True
    path_and_scale = HOST_FIELDS.get(name)
    if path_and_scale is None:
        return False
    values[path_and_scale[0]] = amount * path_and_scale[1]
    return True


class _Rates:
    """Converts counters since the start of the run to rates."""

    def __init__(self) -> None:
        self._last: dict[str, tuple[float, int]] = {}

    def of(self, totals: Mapping[str, float], moment: int) -> dict[str, float]:
        found: dict[str, float] = {}
        for name, total in totals.items():
            path, scale = rate_of(name) or ("", 0.0)
            before, since = self._last.get(name, (math.inf, moment))
            self._last[name] = total, moment
            # A counter that fell was reset.
            if moment > since and total >= before:
                seconds = (moment - since) / _MICROSECONDS
                rate = (total - before) * scale / seconds
                # Devices may be stacked, so that a sum would count bytes twice.
                found[path] = max(rate, found.get(path, 0.0))
        return found


def leaves(path: str, value: object, depth: int) -> Iterator[tuple[str, object]]:
    """Yield leaves of nested objects by path; media and too deep objects stay whole."""
    if not isinstance(value, dict) or _is_media(value) or depth == _DEEPEST:
        yield path, value
        return
    for key, member in value.items():
        yield from leaves(f"{path}/{key}" if path else str(key), member, depth + 1)


def _is_media(value: object) -> bool:
    return isinstance(value, dict) and "_type" in value


def to_float(value: object) -> float | None:
    """Return a float, or None if the value is not a number or too large."""
    if not isinstance(value, (int, float)):
        return None
    try:
        return float(value)
    except OverflowError:
        return None


def _measured(value: object) -> float | None:
    """Return a number, or None if it is implausibly large."""
    number = to_float(value)
    is_broken = number is not None and LARGEST < abs(number) < math.inf
    return None if is_broken else number


def _is_count(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _MOST
