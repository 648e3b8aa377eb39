"""Write attributes, points, texts and files of runs, with a folder for each run.

A file gets its name only when it is complete, and a run's run.json is written last.
After an interruption, the same command continues the export and skips runs that have
not changed. Points are written as they arrive, so memory use does not depend on their
number. Nothing is written outside the folder, whatever the names of the runs.
"""

from __future__ import annotations

import argparse
import json
import re
import time
from pathlib import Path

from seamark.commands.ls import run_json
from seamark.commands.output import (
    MISUSED,
    Refusal,
    clean,
    counted,
    print_json_rows,
    say,
    tell,
)
from seamark.commands.tables import (
    ENDINGS,
    check_format,
    write_attributes,
    write_points,
    write_records,
)
from seamark.commands.whole_file import whole_file
from seamark.errors import CannotRead
from seamark.reading.client import Json, find_tracker
from seamark.reading.downloads import StoredFiles
from seamark.reading.records import RECORD_KINDS
from seamark.reading.run import StoredRun
from seamark.reading.runs import read_run, read_runs

HELP = "export runs as CSV, JSON or Parquet"
EXAMPLES = (
    "seamark export baseline --project digits --to exported",
    "seamark export --project digits --where 'state = finished' --to exported "
    "--format parquet",
    "seamark export baseline --project digits --to exported --files --prefix model/",
)

_DONE = "run.json"
_UNSAFE = re.compile(r"[^A-Za-z0-9_-]+")
_LONGEST_NAME = 60  # characters, besides the id
# Total wait for run summaries, for all runs together.
_SETTLING_SECONDS, _PAUSE_SECONDS = 30.0, 1.0
# Timeout of the check whether the server is alive.
_ALIVE_SECONDS = 10.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", nargs="?", metavar="RUN", help="name or id of a run")
    parser.add_argument("--project", help="its project (SEAMARK_PROJECT)")
    parser.add_argument(
        "--where", metavar="QUERY", help="export all matching runs instead of one"
    )
    parser.add_argument(
        "--to", type=Path, required=True, help="output folder; may already exist"
    )
    parser.add_argument(
        "--format", choices=sorted(ENDINGS), default="csv", help="default: csv"
    )
    parser.add_argument(
        "--prefix",
        default="",
        help="only attributes, series and files with this prefix",
    )
    parser.add_argument(
        "--files",
        action="store_true",
        help="include files and images",
    )
    parser.add_argument(
        "--again", action="store_true", help="export unchanged runs again"
    )


def perform(chosen: argparse.Namespace) -> int:
    if (chosen.run is None) == (chosen.where is None):
        raise Refusal(
            "invalid_usage",
            "Pass a run name, or --where with a query ('' for all runs).",
            MISUSED,
        )
    check_format(chosen.format)
    runs = _found(chosen)
    chosen.to.mkdir(parents=True, exist_ok=True)
    summaries = _Summaries()
    done: list[Json] = []
    failed: list[Json] = []
    for run in runs:
        row = _attempted(run, chosen, summaries)
        (failed if "code" in row else done).append(row)
    if chosen.json:
        print_json_rows({"folder": str(chosen.to), "runs": done, "failed": failed})
    elif not runs:
        tell("no matching runs")
    if failed:
        names = ", ".join(row["name"] for row in failed)
        tell(
            f"{counted(len(failed), 'run')} of {len(runs):,} not exported: {names}; "
            "run the same command again to retry them"
        )
    return 1 if failed or summaries.are_behind else 0


def folder_name(name: str, run_id: str) -> str:
    """Return a folder name for a run that is a valid path component on every system."""
    readable = _UNSAFE.sub("_", name).strip("_-")[:_LONGEST_NAME]
    # The id comes from the server and is not trusted either.
    unique = _UNSAFE.sub("_", run_id)[:_LONGEST_NAME]
    return f"{readable or 'run'}-{unique}"


def _found(chosen: argparse.Namespace) -> list[StoredRun]:
    if chosen.run is not None:
        return [read_run(chosen.run, project=chosen.project)]
    every = read_runs(
        chosen.where, project=chosen.project, sort="started", columns=(), limit=None
    )
    return list(every)


def _attempted(
    run: StoredRun, chosen: argparse.Namespace, summaries: _Summaries
) -> Json:
    """Export a run; return its row of the report, with an error code on failure."""
    try:
        return _exported(run, chosen, summaries)
    except CannotRead as error:
        if chosen.run is not None or _is_of_all(error, run.server):
            raise
        tell(f"{run.name} cannot be exported: {error}")
        why = {"code": error.code, "message": str(error)}
        return {"id": run.id, "name": run.name, **why}


def _is_of_all(error: CannotRead, url: str) -> bool:
    """Return whether an error would affect every other run too."""
    if error.code != "no_answer":
        return error.code in ("not_authenticated", "not_allowed")
    try:
        find_tracker(url, seconds=_ALIVE_SECONDS)
    except CannotRead:
        return True
    return False


def _exported(
    run: StoredRun, chosen: argparse.Namespace, summaries: _Summaries
) -> Json:
    """Export a run unless it is unchanged; return its row of the report."""
    folder = chosen.to / folder_name(run.name, run.id)
    mark = _mark(chosen, run)
    is_there = not chosen.again and _is_there(folder, mark)
    what, is_settled = "unchanged", True
    if not is_there:
        points, is_settled = _write(run, folder, chosen, summaries)
        counts = {"points": points, "settled": is_settled}
        what = f"{points:,} points"
        if chosen.files:
            written, counts["absent_files"] = _write_files(run, folder, chosen.prefix)
            what += f", {counted(written, 'file')}"
        _finish(folder, {**mark, **run_json(run), **counts})
    if not chosen.json:
        say(f"{clean(run.name)}: {what} ({folder})")
    fields = {"folder": str(folder), "was_there": is_there, "settled": is_settled}
    return {**run_json(run), **fields}


def _mark(chosen: argparse.Namespace, run: StoredRun) -> Json:
    """Return a mark that changes when the exported files would change.

    Requested before the data, so that data arriving during the export changes the next
    mark.
    """
    return {
        "id": run.id,
        "state": run.state,
        "version": run.version(),
        # Users may change tags after the end of the run.
        "tags": list(run.tags),
        "format": chosen.format,
        "prefix": chosen.prefix,
        **({"files": True} if chosen.files else {}),
    }


def _is_there(folder: Path, mark: Json) -> bool:
    try:
        stored = json.loads((folder / _DONE).read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return False
    if not isinstance(stored, dict) or mark["state"] == "running":
        # A running run has received more data since.
        return False
    if stored.get("settled") is not True or mark["version"] is None:
        # Its run summary was incomplete, or it is unknown whether more data arrived.
        return False
    if stored.get("absent_files"):
        return False
    return all(stored.get(name) == value for name, value in mark.items())


class _Summaries:
    """Waits for complete run summaries, for a limited total time."""

    def __init__(self) -> None:
        self._left_seconds = _SETTLING_SECONDS
        # Whether incomplete summaries of a finished run were exported.
        self.are_behind = False

    def settle(self, run: StoredRun) -> bool:
        """Wait for the summary of a finished run; return whether it is complete."""
        waiting = run.waiting_points()
        if run.state == "running":
            return waiting == 0
        if waiting and self._left_seconds > 0:
            tell(f"{run.name}: waiting for the server to summarize {waiting:,} points")
        while waiting and self._left_seconds > 0:
            time.sleep(_PAUSE_SECONDS)
            self._left_seconds -= _PAUSE_SECONDS
            waiting = run.waiting_points()
        if waiting:
            self.are_behind = True
            tell(
                f"{run.name}: its attributes' counts, means and last values lack "
                f"{waiting:,} points, which the server has not summarized yet; run the "
                "same command again later"
            )
        return waiting == 0


def _write(
    run: StoredRun, folder: Path, chosen: argparse.Namespace, summaries: _Summaries
) -> tuple[int, bool]:
    """Write a run's files; return the number of points, and whether the summary is
    complete.
    """
    of_attributes, of_points = ENDINGS[chosen.format]
    folder.mkdir(exist_ok=True)
    (folder / _DONE).unlink(missing_ok=True)
    rows = run.attribute_rows(chosen.prefix)
    paths = [row["path"] for row in rows if row["kind"] in RECORD_KINDS]
    _write_records(run, folder / "records.jsonl", paths)
    paths = [row["path"] for row in rows if row["kind"] == "float_series"]
    with whole_file(folder / f"points.{of_points}") as file:
        points = write_points(chosen.format, file, run.points_of(paths))
    # Last, because the server summarizes points some seconds after they arrive.
    is_settled = not paths or summaries.settle(run)
    with whole_file(folder / f"attributes.{of_attributes}") as file:
        write_attributes(chosen.format, file, run.attribute_rows(chosen.prefix))
    return points, is_settled


def _write_records(run: StoredRun, path: Path, paths: list[str]) -> None:
    if not paths:
        path.unlink(missing_ok=True)
        return
    with whole_file(path) as file:
        for series in paths:
            write_records(file, series, run.records(series))


def _write_files(run: StoredRun, folder: Path, prefix: str) -> tuple[int, int]:
    """Write the contents of files; return the numbers of written and missing files."""
    files = run.files(prefix)
    if not files:
        return 0, 0
    stored = StoredFiles("", list_files=lambda _: files, read=run.open_file)
    written = stored.download(folder / "files", missing="skip")
    missing = [file.path for file in files if not file.is_stored]
    if missing:
        tell(
            f"{run.name}: {counted(len(missing), 'file')} of {len(files):,} not uploaded yet, including {missing[0]!a}; run the same command again later"
        )
    return len(written), len(missing)


def _finish(folder: Path, mark: Json) -> None:
    with whole_file(folder / _DONE) as file:
        file.write(json.dumps(mark, indent=2).encode())
        file.write(b"\n")
