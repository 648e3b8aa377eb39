"""Import logs of nvidia-smi: its table, --query-gpu with --format=csv, dmon and pmon.

Logs may lack headers, units and times, cover one or several GPUs, and have any encoding.
Lines that cannot be parsed are skipped and reported.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from seamark.commands.importing.files import (
    Imported,
    Importer,
    add_files,
    add_times,
    clock_of,
    files_of,
    marks_of,
    settings_of,
)
from seamark.commands.importing.results import report
from seamark.importers.nvidia_smi import read_log
from seamark.importers.problems import Problems
from seamark.importers.reading import FileFacts, Reading
from seamark.importers.text import lines_of, open_log

HELP = "import nvidia-smi logs"
EXAMPLES = (
    "seamark import nvidia-smi gpu.csv --project digits --run last-night --stage train",
    "seamark import nvidia-smi gpu.csv --columns timestamp,index,utilization.gpu,"
    "memory.used",
    "seamark import nvidia-smi dmon.log --start 2026-08-12T10:00:00 --zone UTC",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_files(parser, "log file; may be gzip-compressed")
    parser.add_argument(
        "--columns",
        default="",
        help="comma-separated column names of a log without a header",
    )
    add_times(parser)
    parser.add_argument(
        "--every",
        type=float,
        default=1.0,
        metavar="SECONDS",
        help="sample interval in seconds of a log without times (default: 1)",
    )
    parser.add_argument(
        "--pid",
        type=int,
        action="append",
        default=[],
        help="PID of a process of the job in a pmon log; may be repeated",
    )


def perform(chosen: argparse.Namespace) -> int:
    clock = clock_of(chosen, chosen.every)
    columns = [name.strip() for name in chosen.columns.split(",") if name.strip()]
    settings = settings_of(chosen)
    imported, file_facts = Imported(), FileFacts()
    importer = Importer(settings, imported, chosen.tag)

    def read(
        path: Path, problems: Problems, file_facts: FileFacts
    ) -> Iterator[Reading]:
        with open_log(path) as file:
            yield from read_log(
                lines_of(file, problems),
                problems,
                file_facts,
                clock=clock,
                columns=columns,
                processes=chosen.pid,
            )

    importer.log_files(marks_of(chosen, settings, files_of(chosen)), read, file_facts)
    importer.state(file_facts.facts)
    importer.finish()
    return report(chosen, settings, imported)
