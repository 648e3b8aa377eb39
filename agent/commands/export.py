"""Writes attributes and every point and text of runs into files, a folder for each run.

A file has its name only once it is complete, and a run's run.json is written last: what
breaks off goes on where it was when the same is said again, and runs that have not
changed meanwhile are passed over. Points are written while they arrive, so it does not
matter how many there are. Whatever runs are called, nothing is written beside the folder.
"""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path

from agent.commands.ls import run_json
from agent.commands.output import MISUSED, Refusal, clean, say, say_json, tell
from agent.commands.tables import (
    ENDINGS,
    check_format,
    write_attributes,
    write_points,
    write_records,
)
from agent.commands.whole_file import whole_file
from agent.reading import read_run, read_runs
from agent.stored_records import RECORD_KINDS
from agent.stored_run import StoredRun

HELP = "write runs into files: CSV, JSON or Parquet"
EXAMPLES = (
    "seamark export baseline --project digits --to exported",
    "seamark export --project digits --where 'state = finished' --to exported "
    "--format parquet",
)

_DONE = "run.json"
_UNSAFE = re.compile(r"[^A-Za-z0-9_-]+")
_LONGEST_NAME = 60  # characters, beside the id


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", nargs="?", metavar="RUN", help="name or id of a run")
    parser.add_argument("--project", help="its project (SEAMARK_PROJECT)")
    parser.add_argument("--where", metavar="QUERY", help="runs that are so, instead")
    parser.add_argument("--to", type=Path, required=True, help="the folder; may exist")
    parser.add_argument(
        "--format", choices=sorted(ENDINGS), default="csv", help="default: csv"
    )
    parser.add_argument(
        "--prefix", default="", help="only attributes and series that begin so"
    )
    parser.add_argument(
        "--again", action="store_true", help="also runs that are there, unchanged"
    )


def perform(chosen: argparse.Namespace) -> int:
    if (chosen.run is None) == (chosen.where is None):
        raise Refusal(
            "invalid_usage",
            "Say which: the name of a run, or --where and a query ('' for all).",
            MISUSED,
        )
    check_format(chosen.format)
    runs = _found(chosen)
    chosen.to.mkdir(parents=True, exist_ok=True)
    done = []
    for run in runs:
        folder = chosen.to / folder_name(run.name, run.id)
        mark = _mark(chosen, run)
        is_there = not chosen.again and _is_there(folder, mark)
        points = 0
        if not is_there:
            points = _write(run, folder, chosen)
            _finish(folder, {**mark, **run_json(run), "points": points})
        done.append({**run_json(run), "folder": str(folder), "was_there": is_there})
        if not chosen.json:
            what = "there already" if is_there else f"{points:,} points"
            say(f"{clean(run.name)}: {what} ({folder})")
    if chosen.json:
        say_json({"folder": str(chosen.to), "runs": done})
    elif not runs:
        tell("no run is like that")
    return 0


def folder_name(name: str, run_id: str) -> str:
    """Return a name for a run's folder that is one part of a path on every system."""
    readable = _UNSAFE.sub("_", name).strip("_-")[:_LONGEST_NAME]
    # The id is the server's, which is not trusted either.
    unique = _UNSAFE.sub("_", run_id)[:_LONGEST_NAME]
    return f"{readable or 'run'}-{unique}"


def _found(chosen: argparse.Namespace) -> list[StoredRun]:
    if chosen.run is not None:
        return [read_run(chosen.run, project=chosen.project)]
    every = read_runs(
        chosen.where, project=chosen.project, sort="started", columns=(), limit=None
    )
    return list(every)


def _mark(chosen: argparse.Namespace, run: StoredRun) -> dict[str, object]:
    """Return what is the same as long as the files are what they would be now."""
    return {
        "id": run.id,
        "state": run.state,
        "last_seen_at": run.last_seen_at(),
        # Changed by people, long after the last of it was seen.
        "tags": list(run.tags),
        "format": chosen.format,
        "prefix": chosen.prefix,
    }


def _is_there(folder: Path, mark: dict[str, object]) -> bool:
    try:
        stored = json.loads((folder / _DONE).read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return False
    if not isinstance(stored, dict) or mark["state"] == "running":
        # Of one that runs, more has arrived by now.
        return False
    return all(stored.get(name) == value for name, value in mark.items())


def _write(run: StoredRun, folder: Path, chosen: argparse.Namespace) -> int:
    """Write a run's files, and return how many points are in them."""
    of_attributes, of_points = ENDINGS[chosen.format]
    folder.mkdir(exist_ok=True)
    (folder / _DONE).unlink(missing_ok=True)
    rows = run.attribute_rows(chosen.prefix)
    with whole_file(folder / f"attributes.{of_attributes}") as file:
        write_attributes(chosen.format, file, rows)
    paths = [row["path"] for row in rows if row["kind"] in RECORD_KINDS]
    _write_records(run, folder / "records.jsonl", paths)
    paths = [row["path"] for row in rows if row["kind"] == "float_series"]
    with whole_file(folder / f"points.{of_points}") as file:
        return write_points(chosen.format, file, run.points_of(paths))


def _write_records(run: StoredRun, path: Path, paths: list[str]) -> None:
    if not paths:
        path.unlink(missing_ok=True)
        return
    with whole_file(path) as file:
        for series in paths:
            write_records(file, series, run.records(series))


def _finish(folder: Path, mark: dict[str, object]) -> None:
    with whole_file(folder / _DONE) as file:
        file.write(json.dumps(mark, indent=2).encode())
        file.write(b"\n")
