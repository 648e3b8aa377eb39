"""Import traces of torch.profiler and compute a time breakdown of each step.

It contains wall time, data wait, GPU time, and the time of copies, communication and
waiting that is not hidden behind kernels; the rules then diagnose it. Each trace is
stored in the run as a file, with a timeline of three of its steps as a figure.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from seamark.commands.importing.files import (
    Imported,
    Importer,
    add_files,
    files_of,
    marks_of,
    settings_of,
)
from seamark.commands.importing.results import report
from seamark.importers.json_stream import JsonStream
from seamark.importers.problems import Problems
from seamark.importers.text import open_log
from seamark.importers.trace import Trace, collect
from seamark.importers.trace_facts import base_microseconds, facts_of, rank_of
from seamark.importers.trace_steps import Account, account, find_steps
from seamark.importers.trace_timeline import shown_interval, timeline

HELP = "import torch.profiler traces"
EXAMPLES = (
    "seamark import trace worker0.pt.trace.json.gz --project digits --run profiled",
    "seamark import trace log/resnet/*.pt.trace.json --no-upload",
)

STAGE = "trace"
# Earlier times are relative to the boot of a machine.
_EARLIEST = 946_684_800_000_000  # the year 2000, in microseconds
_DIGITS_IN_NAME = 8  # of a digest
_NO_STEPS = (
    "it has neither steps nor GPU kernels: call the profiler's step() after each step,"
    " and pass it ProfilerActivity.CUDA"
)

# End time in the trace's clock, step, and values by path.
_Row = tuple[float, int, dict[str, float]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_files(
        parser,
        "torch.profiler trace; may be gzip-compressed",
        stage=f"by default {STAGE}",
    )
    parser.add_argument(
        "--no-upload", action="store_true", help="do not upload the trace files"
    )


@dataclass(frozen=True)
class _TracedFile:
    """The logged data of a file, without the trace itself, which is too large to keep."""

    path: Path
    mark: str
    rank: int
    found: Account
    facts: Mapping[str, object]
    problems: Problems
    shift: float  # added to the trace's times to get microseconds since 1970
    timeline: Mapping[str, Any] | None

    @property
    def first_end(self) -> float:
        """The end of the first step or window, in microseconds since 1970."""
        return min(_ends(self.found)) + self.shift


class _Rank:
    """One rank of the run; steps of its traces do not overlap."""

    def __init__(self, importer: Importer) -> None:
        self.importer = importer
        self._next_step = 0
        self._next_windows: dict[int, int] = {}
        self._names: set[str] = set()

    def log(self, read: _TracedFile) -> None:
        """Log steps and windows in order of time."""
        rows = [*self._steps(read), *self._windows(read.found)]
        for end, step, values in sorted(rows, key=lambda row: row[0]):
            self.importer.log(values, float(step), round(end + read.shift))
        self.importer.state(read.facts)

    def upload(self, read: _TracedFile, *, is_whole: bool) -> None:
        """Store the timeline and the trace, under a unique name."""
        name = read.path.name
        if name in self._names:
            digest = read.mark.rpartition("/")[2]
            name = f"{digest[:_DIGITS_IN_NAME]}-{name}"
        self._names.add(name)
        if read.timeline:
            figure = json.dumps(read.timeline).encode()
            file_name = f"{name}.timeline.plotly.json"
            self.importer.upload(f"timelines/{name}", figure, name=file_name)
        if is_whole:
            self.importer.upload(f"traces/{name}", read.path, name=name)

    def _steps(self, read: _TracedFile) -> Iterator[_Row]:
        """Yield steps with the profiler's numbers, shifted after those of an earlier
        trace.
        """
        steps = read.found.steps
        lowest = min((step.number for step in steps), default=self._next_step)
        more = max(0, self._next_step - lowest)
        if more:
            read.problems.add("its steps continue after those of the previous trace", 1)
        for step in steps:
            number = step.number + more
            values = {f"step/{name}": value for name, value in step.measured.items()}
            yield step.end, number, values
            self._next_step = max(self._next_step, number + 1)

    def _windows(self, found: Account) -> Iterator[_Row]:
        for device, windows in found.windows.items():
            first = self._next_windows.get(device, 0)
            for number, window in enumerate(windows, first):
                values = {
                    f"gpu/{device}/{name}": value
                    for name, value in window.measured.items()
                }
                yield window.end, number, values
            self._next_windows[device] = first + len(windows)


def perform(chosen: argparse.Namespace) -> int:
    imported = Imported()
    settings = settings_of(chosen, stage=STAGE)
    marks = marks_of(chosen, settings, files_of(chosen))
    every = [_read_file(path, mark, imported) for path, mark in marks.items()]
    files = [read for read in every if read is not None]
    # The first process is diagnosed: rank 0, or the lowest rank with a trace.
    lowest = min((read.rank for read in files), default=0)
    ranks: dict[int, _Rank] = {}
    # The first trace sets the start of the run.
    for read in sorted(files, key=lambda read: read.first_end):
        if read.rank not in ranks:
            rank_number = 0 if read.rank == lowest else read.rank
            of_rank = settings_of(chosen, stage=STAGE, rank=rank_number)
            ranks[read.rank] = _Rank(Importer(of_rank, imported, chosen.tag))
        rank = ranks[read.rank]
        with rank.importer.importing(read.mark, read.path):
            rank.log(read)
            rank.upload(read, is_whole=not chosen.no_upload)
    for rank in ranks.values():
        rank.importer.finish()
    return report(chosen, settings, imported)


def _read_file(path: Path, mark: str, imported: Imported) -> _TracedFile | None:
    problems = imported.problems.setdefault(str(path), Problems())
    trace = read_trace(path, problems)
    found = account(trace)
    if not found.steps:
        problems.add(_NO_STEPS, 1)
    elif len(found.steps) == 1:
        problems.add(
            "treated as one step: call the profiler's step() after each step", 1
        )
    if not found.steps and not found.windows:
        return None
    shift = _shift(trace, found, path, problems)
    rank, facts = rank_of(trace.header), facts_of(trace)
    steps = [(step.start, step.end) for step in find_steps(trace)]
    shown = shown_interval(steps, trace.lanes)
    drawn = timeline(trace.lanes, shown, path.name) if shown else None
    return _TracedFile(path, mark, rank, found, facts, problems, shift, drawn)


def read_trace(path: Path, problems: Problems) -> Trace:
    """Read a trace file; a damaged file is read up to the damage."""
    with open_log(path) as file:
        stream = JsonStream(file, "traceEvents")
        trace = collect(stream.items(), problems)
        trace.header = stream.members
    if stream.damage:
        problems.add(f"it is truncated or damaged, {stream.damage}", trace.events)
    return trace


def _shift(trace: Trace, found: Account, path: Path, problems: Problems) -> float:
    """Return the offset of the trace's times to microseconds since 1970."""
    ends = _ends(found)
    base = base_microseconds(trace.header)
    if min(ends) + base >= _EARLIEST:
        return base
    problems.add("its times have no date, so the file's date is used", 1)
    return path.stat().st_mtime * 1_000_000 - max(ends)


def _ends(found: Account) -> list[float]:
    ends = [step.end for step in found.steps]
    return ends + [w.end for windows in found.windows.values() for w in windows]
