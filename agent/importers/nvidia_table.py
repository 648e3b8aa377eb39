"""The table of plain `nvidia-smi`, `nvidia-smi -l` and `watch nvidia-smi` (pure).

Each GPU has two rows: its name, then its numbers. The time is above the table.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from seamark.importers.log_times import LogTimes
from seamark.importers.nvidia_fields import MIB
from seamark.importers.nvidia_query import NO_TIME, Clock
from seamark.importers.problems import Problems
from seamark.importers.reading import FileFacts, Reading

_MAX_GPUS = 1_024
_NAME_CHARACTERS = 200
_TITLE = re.compile(r"\|\s*NVIDIA-SMI\s")
_DRIVER = re.compile(r"Driver Version:\s*([\d.]+)")
# In the format of C's asctime; `watch` puts it at the end of its first line.
_TIME = re.compile(
    r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)\s+([A-Z][a-z]{2})\s+(\d{1,2})\s+"
    r"(\d{2}:\d{2}:\d{2})\s+(\d{4})"
)
_MONTHS = [
    "Jan",
    "Feb",
    "Mar",
    "Apr",
    "May",
    "Jun",
    "Jul",
    "Aug",
    "Sep",
    "Oct",
    "Nov",
    "Dec",
]
# "|   0  NVIDIA GeForce RTX 3090        Off | 00000000:01:00.0 Off |      N/A |"
_NAME_ROW = re.compile(
    r"\|\s+(\d{1,4})\s+(\S.*?)\s+(?:On|Off|N/A)\s*\|"
    r"\s*([0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.\d)"
)
# "| 30%   54C    P2     231W / 350W |  24050MiB / 24576MiB |     40%      Default |"
_NUMBER_ROW = re.compile(
    r"\|\s*(\S+)\s+(\S+)\s+(\S+)\s+(\S+)\s*/\s*(\S+)\s*\|"
    r"\s*(\S+)\s*/\s*(\S+)\s*\|\s*(\S+)\s+\S"
)
_NUMBER = re.compile(r"(\d+(?:\.\d+)?)(%|C|W|MiB)")
_STATE = re.compile(r"P(\d{1,2})")


def is_title(line: str) -> bool:
    """Return whether a line is the first one of the table."""
    return _TITLE.match(line) is not None


def read_table(
    lines: Iterable[tuple[int, str]],
    problems: Problems,
    file_facts: FileFacts,
    *,
    clock: Clock,
) -> Iterator[Reading]:
    """Yield the numbers of each GPU in each table; skipped lines are reported."""
    tables = _Tables(problems, file_facts, clock)
    for number, line in lines:
        reading = tables.read(number, line)
        if reading is not None:
            yield reading


@dataclass
class _Tables:
    problems: Problems
    file_facts: FileFacts
    clock: Clock
    times: LogTimes = field(init=False)
    time: str = ""
    tick: int = -1
    gpu: int | None = None

    def __post_init__(self) -> None:
        self.times = LogTimes(self.clock.zone, self.problems)

    def read(self, number: int, line: str) -> Reading | None:
        if (found := _TIME.search(line)) is not None:
            self.time = _iso(found)
        elif is_title(line):
            self._begin(line)
        elif (row := _NAME_ROW.match(line)) is not None:
            self._name(row)
        elif self.gpu is not None and (row := _NUMBER_ROW.match(line)) is not None:
            gpu, self.gpu = self.gpu, None
            return self._reading(number, gpu, row)
        return None

    def _begin(self, line: str) -> None:
        self.tick += 1
        self.gpu = None
        if (driver := _DRIVER.search(line)) is not None:
            self.file_facts.add("gpu_driver", driver[1])

    def _name(self, row: re.Match[str]) -> None:
        gpu = int(row[1])
        self.gpu = gpu if gpu < _MAX_GPUS else None
        # Long names end in three dots.
        if not row[2].endswith("..."):
            self.file_facts.add(f"gpu/{gpu}/name", row[2][:_NAME_CHARACTERS])
        self.file_facts.add(f"gpu/{gpu}/pci_bus", row[3])

    def _reading(self, number: int, gpu: int, row: re.Match[str]) -> Reading | None:
        moment = self._moment(number)
        if moment is None:
            self.problems.add(NO_TIME, number)
            return None
        fan, temperature, state, power, cap, used, total, utilization = row.groups()
        values = {
            "fan_percent": _value(fan, "%"),
            "temperature_celsius": _value(temperature, "C"),
            "performance_state": _performance_state(state),
            "power_watts": _value(power, "W"),
            "power_limit_watts": _value(cap, "W"),
            "memory_used_bytes": _value(used, "MiB", MIB),
            "utilization_percent": _value(utilization, "%"),
        }
        if (total_bytes := _value(total, "MiB", MIB)) is not None:
            self.file_facts.add(f"gpu/{gpu}/memory_total_bytes", int(total_bytes))
        known = {
            f"gpu/{gpu}/{path}": value
            for path, value in values.items()
            if value is not None
        }
        return Reading(moment, known) if known else None

    def _moment(self, number: int) -> int | None:
        if self.time:
            return self.times.read(self.time, number)
        return self.clock.at(max(self.tick, 0))


def _iso(found: re.Match[str]) -> str:
    month = _MONTHS.index(found[1]) + 1 if found[1] in _MONTHS else 0
    return f"{found[4]}-{month:02}-{int(found[2]):02} {found[3]}"


def _value(cell: str, unit: str, scale: float = 1.0) -> float | None:
    match = _NUMBER.fullmatch(cell)
    return float(match[1]) * scale if match and match[2] == unit else None


def _performance_state(cell: str) -> float | None:
    match = _STATE.fullmatch(cell)
    return float(match[1]) if match else None
