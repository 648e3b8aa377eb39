"""Logs of `nvidia-smi dmon`, `nvidia-smi pmon` and `dcgmi dmon` (pure)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta, timezone

from seamark.importers.log_times import LogTimes
from seamark.importers.nvidia_fields import MIB
from seamark.importers.nvidia_query import NO_COLUMNS, NO_TIME, Clock
from seamark.importers.problems import Problems
from seamark.importers.reading import Reading, to_number

# Columns of dmon: the path under `gpu/<i>/`, and the factor to our unit.
COLUMNS: dict[str, tuple[str, float]] = {
    "pwr": ("power_watts", 1.0),
    "gtemp": ("temperature_celsius", 1.0),
    "temp": ("temperature_celsius", 1.0),
    "mtemp": ("memory_temperature_celsius", 1.0),
    "sm": ("utilization_percent", 1.0),
    "mem": ("memory_utilization_percent", 1.0),
    "enc": ("encoder_percent", 1.0),
    "dec": ("decoder_percent", 1.0),
    "jpg": ("jpeg_percent", 1.0),
    "ofa": ("optical_flow_percent", 1.0),
    "mclk": ("memory_clock_mhz", 1.0),
    "pclk": ("sm_clock_mhz", 1.0),
    "pviol": ("limited/power_share", 0.01),
    "tviol": ("limited/thermal_share", 1.0),
    "fb": ("memory_used_bytes", MIB),
    "sbecc": ("ecc_corrected", 1.0),
    "dbecc": ("ecc_uncorrected", 1.0),
    "pci": ("pcie_replays", 1.0),
    "rxpci": ("pcie_receive_bytes_per_second", 1e6),
    "txpci": ("pcie_send_bytes_per_second", 1e6),
}
# The same for `dcgmi dmon`, with ratios from 0 to 1.
_DCGM_COLUMNS: dict[str, tuple[str, float]] = {
    "power": ("power_watts", 1.0),
    "tmptr": ("temperature_celsius", 1.0),
    "mmtmp": ("memory_temperature_celsius", 1.0),
    "gputl": ("utilization_percent", 1.0),
    "mcutl": ("memory_utilization_percent", 1.0),
    "smclk": ("sm_clock_mhz", 1.0),
    "mmclk": ("memory_clock_mhz", 1.0),
    "fbusd": ("memory_used_bytes", MIB),
    "smact": ("gpm/sm_active_percent", 100.0),
    "smocc": ("gpm/sm_occupancy_percent", 100.0),
    "tenso": ("gpm/tensor_active_percent", 100.0),
    "drama": ("gpm/dram_active_percent", 100.0),
    "pcirx": ("pcie_receive_bytes_per_second", 1.0),
    "pcitx": ("pcie_send_bytes_per_second", 1.0),
}
_ALL_COLUMNS = COLUMNS | _DCGM_COLUMNS
# Known columns without a path: mapped or encrypted memory, and columns of pmon.
_PASSED_OVER = frozenset(
    {"gpu", "date", "time", "bar1", "ccpm", "command", "type", "pid", "fbfre", "gract"}
)
_ABSENT = frozenset({"-", "n/a"})
_ENTITY = "entity"  # dcgmi's head of the GPU column
_GPU_CELL = re.compile(r"^GPU\s+(?=\d)")
_BREAK = re.compile(r"[,\s]+")
_MAX_GPUS = 1_024
_SHOWN = 60
# The mark of `nvidia-smi pmon` for compute processes.
_COMPUTES = "C"
# Its mark for a GPU without processes.
_NONE = "-"


@dataclass
class _Tick:
    """The values of all GPUs at one time."""

    number: int = -1
    moment: int | None = None
    mark: str = ""
    # Processes by GPU, because pmon has one row for each process; dmon has none.
    seen: dict[int, set[str]] = field(default_factory=dict)
    processes: dict[int, _Processes] = field(default_factory=dict)


@dataclass
class _Processes:
    count: int = 0
    ours: dict[str, float] = field(default_factory=dict)
    others: dict[str, float] = field(default_factory=dict)


def read_monitor(
    lines: Iterable[tuple[int, str]],
    problems: Problems,
    *,
    clock: Clock,
    columns: Sequence[str] = (),
    processes: Collection[int] = (),
) -> Iterator[Reading]:
    """Yield samples; lines that cannot be parsed are reported.

    `processes` are the job's PIDs in pmon logs; without them no attribution is made.
    """
    reader = _Reader(problems, clock, columns, frozenset(processes))
    for number, line in lines:
        yield from reader.read(number, line)
    yield from reader.finished()


def is_head(line: str) -> bool:
    """Return whether a line names the columns of dmon or pmon."""
    return line.startswith("#") and "gpu" in _names(line)


class _Reader:
    def __init__(
        self,
        problems: Problems,
        clock: Clock,
        columns: Sequence[str],
        ours: frozenset[int],
    ) -> None:
        self._problems = problems
        self._clock = clock
        self._names = [name.casefold() for name in columns]
        self._ours = ours
        self._tick = _Tick()
        self._times = LogTimes(clock.zone, problems)
        self._days = 0
        self._unknown_columns: set[str] = set()

    def read(self, number: int, line: str) -> Iterator[Reading]:
        if not line.strip() or line == "ID":
            return
        if line.startswith("#"):
            self._read_head(number, line)
            return
        row = self._row(number, line)
        if row is None:
            return
        gpu = to_number(row.get("gpu", ""))
        if gpu is None or not 0 <= gpu < _MAX_GPUS:
            self._problems.add("it names no GPU", number)
            return
        yield from self._advanced(row, int(gpu), number)
        if self._tick.moment is None:
            self._problems.add(NO_TIME, number)
            return
        if "pid" in row:
            self._add_process(int(gpu), row, number)
            return
        values = self._values(int(gpu), row, number)
        if values:
            yield Reading(self._tick.moment, values)

    def finished(self) -> Iterator[Reading]:
        """Yield the last time's values of processes."""
        tick = self._tick
        if tick.moment is None:
            return
        for gpu, found in tick.processes.items():
            values = {f"gpu/{gpu}/processes": float(found.count)}
            if self._ours:
                for kind, sums in (("job", found.ours), ("other", found.others)):
                    values |= {
                        f"gpu/{gpu}/{kind}_{name}": value
                        for name, value in sums.items()
                    }
            yield Reading(tick.moment, values)

    def _read_head(self, number: int, line: str) -> None:
        names = _names(line)
        if "gpu" not in names:
            return  # the line of units
        self._names = names
        is_of_processes = "pid" in names
        for name in names:
            known = name in _ALL_COLUMNS or name in _PASSED_OVER
            if not known and not is_of_processes and name not in self._unknown_columns:
                self._unknown_columns.add(name)
                self._problems.add(f"unknown column {name[:_SHOWN]!a}", number)

    def _row(self, number: int, line: str) -> dict[str, str] | None:
        if not self._names:
            self._problems.add(NO_COLUMNS, number)
            return None
        line = _GPU_CELL.sub("", line.strip())
        cells = [cell for cell in _BREAK.split(line) if cell]
        if "command" in self._names:
            # The last column; a command may contain spaces.
            cells = cells[: len(self._names)]
        if len(cells) != len(self._names):
            self._problems.add(f"it does not have {len(self._names)} values", number)
            return None
        return dict(zip(self._names, cells, strict=True))

    def _advanced(
        self, row: dict[str, str], gpu: int, number: int
    ) -> Iterator[Reading]:
        """Start a new time if the row belongs to it; yield the previous values of
        processes.
        """
        tick = self._tick
        mark = f"{row.get('date', '')} {row.get('time', '')}".strip()
        process = row.get("pid", "")
        others = tick.seen.get(gpu, set())
        # A process and the mark for none, or a repeated process, belong to different
        # times.
        is_again = process in others or (bool(others) and _NONE in {process, *others})
        is_back = bool(tick.seen) and gpu < max(tick.seen)
        is_new = mark != tick.mark or is_again or is_back or tick.number < 0
        if is_new:
            yield from self.finished()
            counted = tick.number + 1
            moment = self._moment(row, counted, number)
            self._tick = _Tick(counted, moment, mark)
        self._tick.seen.setdefault(gpu, set()).add(process)

    def _moment(self, row: dict[str, str], tick: int, number: int) -> int | None:
        day, time = row.get("date"), row.get("time")
        if day and time:
            found = self._times.read(f"{day} {time}", number)
        elif time and self._clock.start is not None:
            found = self._of_day(time, self._clock.start, number)
        else:
            return self._clock.at(tick)
        if found is None:
            self._problems.add("its time cannot be parsed", number)
        return found

    def _of_day(self, time: str, start: int, number: int) -> int | None:
        """Return a time of day as microseconds, on the log's first day or later."""
        before = self._times.last
        found = self._times.read(f"{self._day(start)} {time}", number)
        if found is None or before is None or found >= before:
            return found
        self._days += 1
        return self._times.read(f"{self._day(start)} {time}", number)

    def _day(self, start: int) -> date:
        """Return the date in the log's time zone."""
        began = datetime.fromtimestamp(start / 1_000_000, timezone.utc)
        return began.astimezone(self._clock.zone).date() + timedelta(days=self._days)

    def _values(self, gpu: int, row: dict[str, str], number: int) -> dict[str, float]:
        values = {}
        for name, cell in row.items():
            known = _ALL_COLUMNS.get(name)
            if known is None or cell.casefold() in _ABSENT:
                continue
            value = to_number(cell)
            if value is None:
                self._problems.add(f"a value of {name} cannot be parsed", number)
            else:
                values[f"gpu/{gpu}/{known[0]}"] = value * known[1]
        return values

    def _add_process(self, gpu: int, row: dict[str, str], number: int) -> None:
        found = self._tick.processes.setdefault(gpu, _Processes())
        if row["pid"] == _NONE:
            return
        pid = to_number(row["pid"])
        if pid is None:
            self._problems.add("it names no process", number)
            return
        if _COMPUTES not in row.get("type", _COMPUTES):
            return
        found.count += 1
        sums = found.ours if pid in self._ours else found.others
        for column, name, scale in (
            ("sm", "sm_percent", 1.0),
            ("fb", "memory_bytes", MIB),
        ):
            value = to_number(row.get(column, ""))
            if value is not None:
                sums[name] = sums.get(name, 0.0) + value * scale
        sums["processes"] = sums.get("processes", 0.0) + 1.0


def _names(line: str) -> list[str]:
    names = [name for name in _BREAK.split(line.lstrip("# ").casefold()) if name]
    return ["gpu" if name == _ENTITY else name for name in names]
