"""Import metrics from CSV files: a row per step, a column per metric.

The step is in a column such as step or epoch, the time in one such as timestamp. Without
them, rows are counted, and have the time at which the file was written. Each file
becomes a run, named after it, unless --run is given.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from pathlib import Path

from seamark.commands.importing.files import (
    MICROSECONDS,
    Imported,
    Importer,
    add_files,
    add_zone,
    files_of,
    zone_from,
)
from seamark.commands.importing.sources import Source, import_each
from seamark.commands.output import MISUSED, Refusal
from seamark.importers.csv_metrics import Columns, MissingColumn, read_metrics
from seamark.importers.problems import Problems
from seamark.importers.reading import FileFacts, Reading
from seamark.importers.text import lines_of, open_log
from seamark.settings import Settings

HELP = "import metrics from CSV files"
EXAMPLES = (
    "seamark import csv metrics.csv --project digits --run baseline",
    "seamark import csv history.csv --step batch --time logged_at --zone UTC",
)

# Lightning's name for the file of each run.
_COMMON_NAME = "metrics"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_files(parser, "a CSV file; may be compressed by gzip")
    parser.add_argument("--step", metavar="COLUMN", help="the column of the steps")
    parser.add_argument("--time", metavar="COLUMN", help="the column of the times")
    add_zone(parser)


def perform(chosen: argparse.Namespace) -> int:
    paths = files_of(chosen)
    for path in paths:
        if path.is_dir():
            raise Refusal("not_a_file", f"{str(path)!a} is a folder; name its files.")
    if chosen.run:
        sources = [Source(files=dict.fromkeys(paths, ""))]
    else:
        sources = [Source(run=_name(path), files={path: ""}) for path in paths]
    return import_each(chosen, sources, _import)


def _name(path: Path) -> str:
    name = path.name.removesuffix(".gz").removesuffix(".csv")
    return path.resolve().parent.name if name == _COMMON_NAME else name


def _import(
    chosen: argparse.Namespace,
    settings: Settings,
    _source: Source,
    marks: Mapping[Path, str],
) -> Imported:
    imported = Imported()
    importer = Importer(settings, imported, chosen.tag)
    zone = zone_from(chosen)

    def read(
        path: Path, problems: Problems, _file_facts: FileFacts
    ) -> Iterator[Reading]:
        written = round(path.stat().st_mtime * MICROSECONDS)
        columns = Columns(chosen.step, chosen.time, zone, written, _name(path))
        with open_log(path) as file:
            yield from read_metrics(lines_of(file, problems), problems, columns)

    try:
        importer.log_files(marks, read, FileFacts())
    except MissingColumn as missing:
        raise Refusal(
            "invalid_usage", f"There is no column {str(missing)!a}.", MISUSED
        ) from None
    importer.finish()
    return imported
