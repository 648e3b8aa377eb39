"""Imports traces of torch.profiler, and computes of each step where its time went.

That is wall time, wait for data, what the GPU did, and what of copies, communication
and waiting was not hidden behind kernels; the rules then judge it. Each trace is stored
in the run as a file, too.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from agent.commands.imported import (
    Imported,
    Importer,
    add_files,
    files_of,
    marks_of,
    report,
    settings_of,
)
from agent.importers.json_stream import JsonStream
from agent.importers.noted import Noted
from agent.importers.text import open_log
from agent.importers.trace import Trace, collect
from agent.importers.trace_facts import base_microseconds, facts_of, rank_of
from agent.importers.trace_steps import Account, account

HELP = "import traces of torch.profiler"
EXAMPLES = (
    "seamark import trace worker0.pt.trace.json.gz --project digits --run profiled",
    "seamark import trace log/resnet/*.pt.trace.json --no-upload",
)

STAGE = "trace"
# Older moments are counted from when a machine was started.
_EARLIEST = 946_684_800_000_000  # the year 2000, in microseconds


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_files(
        parser,
        "a trace, as torch.profiler exports it; may be compressed by gzip",
        stage=f"by default {STAGE}",
    )
    parser.add_argument(
        "--no-upload", action="store_true", help="do not store the traces themselves"
    )


def perform(chosen: argparse.Namespace) -> int:
    imported = Imported()
    settings = settings_of(chosen, stage=STAGE)
    importers: dict[int, Importer] = {}
    for path, mark in marks_of(chosen, settings, files_of(chosen)).items():
        noted = imported.noted.setdefault(str(path), Noted())
        trace = read_trace(path, noted)
        found = account(trace)
        rank = rank_of(trace.stated)
        if rank not in importers:
            of_rank = settings_of(chosen, stage=STAGE, rank=rank)
            importers[rank] = Importer(of_rank, imported, chosen.tag)
        importer = importers[rank]
        if not found.steps:
            noted.add("it has no steps: call the profiler's step() after each", 1)
        if not found.steps and not found.windows:
            continue
        with importer.importing(mark, path):
            log_trace(importer, found, _shift(trace, found, path, noted))
            importer.state(facts_of(trace))
            if not chosen.no_upload:
                importer.upload(f"traces/{path.name}", path)
    for importer in importers.values():
        importer.finish()
    return report(chosen, settings, imported)


def read_trace(path: Path, noted: Noted) -> Trace:
    """Return what a file holds; where it is damaged, what stands before."""
    with open_log(path) as file:
        stream = JsonStream(file, "traceEvents")
        trace = collect(stream.items(), noted)
        trace.stated = stream.members
    if stream.damage:
        noted.add(f"it ends too early, or is damaged, {stream.damage}", trace.events)
    return trace


def log_trace(importer: Importer, found: Account, shift: float) -> None:
    """Log steps and windows in order of time."""
    for moment, step, values in sorted(_rows(found, shift), key=lambda row: row[0]):
        importer.log(values, step, moment)


def _rows(
    found: Account, shift: float
) -> Iterator[tuple[int, float, dict[str, float]]]:
    for step in found.steps:
        values = {f"step/{name}": value for name, value in step.measured.items()}
        yield round(step.end + shift), float(step.number), values
    for device, windows in found.windows.items():
        for number, window in enumerate(windows):
            values = {
                f"gpu/{device}/{name}": value for name, value in window.measured.items()
            }
            yield round(window.end + shift), float(number), values


def _shift(trace: Trace, found: Account, path: Path, noted: Noted) -> float:
    """Return what makes the trace's times microseconds since 1970."""
    ends = [step.end for step in found.steps]
    ends += [window.end for windows in found.windows.values() for window in windows]
    base = base_microseconds(trace.stated)
    if min(ends) + base >= _EARLIEST:
        return base
    noted.add("its times say no date, so the file's date is taken", 1)
    return path.stat().st_mtime * 1_000_000 - max(ends)
