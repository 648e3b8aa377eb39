"""List projects, the runs of a project, or the attributes of a run.

Without an argument, lists the runs of the project if one is named, else the projects. A
column is an attribute's path; a series shows its last value. On a terminal, the table
fits its width; --format csv and --json never cut values. In CSV, numbers have all their
digits, times have a time zone, and durations are in seconds.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Sequence
from datetime import datetime

from seamark.commands.output import (
    MISUSED,
    Refusal,
    print_csv,
    print_json_rows,
    print_table,
    tell,
    time_text,
)
from seamark.reading.client import Json
from seamark.reading.run import StoredRun
from seamark.reading.runs import read_projects, read_run, read_runs
from seamark.reading.values import to_moment

HELP = "list projects, runs, or a run's attributes"
EXAMPLES = (
    "seamark ls",
    "seamark ls --project digits --sort train/loss --columns params/lr,train/loss",
    "seamark ls --project digits --where 'train/loss < 0.3 and state = finished'",
    "seamark ls attributes baseline --project digits --prefix params/",
)

KINDS = ("projects", "runs", "attributes")
FORMATS = ("table", "csv", "json")
_SORTS = ("started", "name", "state", "duration")
_RUN_HEADS = ("name", "state", "started", "duration", "tags")
_PROJECT_HEADS = ("project", "runs", "running", "failed", "last activity")
_ATTRIBUTE_HEADS = ("path", "kind", "value", "count", "minimum", "maximum", "last step")
_SECOND, _MINUTE, _HOUR, _DAY = 1, 60, 3600, 86400
# Above this, floats are not exact, and all digits would be long and useless.
_LARGEST_WHOLE = 1e15


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("kind", nargs="?", choices=KINDS, help="what to list")
    parser.add_argument(
        "run", nargs="?", metavar="RUN", help="run to list the attributes of"
    )
    parser.add_argument("--project", help="the project (SEAMARK_PROJECT)")
    parser.add_argument(
        "--where", default="", metavar="QUERY", help="only runs that match"
    )
    parser.add_argument(
        "--columns",
        action="append",
        default=[],
        metavar="PATH,…",
        help="attributes to show for each run; may be repeated",
    )
    parser.add_argument(
        "--sort",
        default="-started",
        metavar="COLUMN",
        help="started, name, state, duration, wall_time, or an attribute's path; with a leading "
        "-, descending, as in --sort=-started (default: -started)",
    )
    parser.add_argument(
        "--limit",
        type=count,
        default=50,
        help="maximum number of runs (default: 50)",
    )
    parser.add_argument("--prefix", default="", help="only attributes with this prefix")
    parser.add_argument(
        "--format", choices=FORMATS, help="table (default), csv, or json as --json"
    )


def perform(chosen: argparse.Namespace) -> int:
    chosen.format = "json" if chosen.json else chosen.format or "table"
    has_project = chosen.project or os.environ.get("SEAMARK_PROJECT") or chosen.where
    kind = chosen.kind or ("runs" if has_project else "projects")
    if (kind == "attributes") != (chosen.run is not None):
        raise Refusal(
            "invalid_usage",
            "`seamark ls attributes` needs a run name; other lists do not take one.",
            MISUSED,
        )
    if kind == "projects":
        _list_projects(chosen)
    elif kind == "runs":
        _list_runs(chosen)
    else:
        _list_attributes(chosen)
    return 0


def sort_key(text: str) -> str:
    """Return the API's name of a sort column."""
    sign = "-" if text.startswith("-") else ""
    name = text.removeprefix("-")
    return f"{sign}{name}" if name in _SORTS or ":" in name else f"{sign}path:{name}"


def columns_in(words: Sequence[str]) -> list[str]:
    """Return the paths in arguments that may each contain several."""
    paths = [path.strip() for word in words for path in word.split(",")]
    return list(dict.fromkeys(filter(None, paths)))


def duration(seconds: float) -> str:
    """Return a duration in two units, as in the runs table."""
    if seconds < _SECOND:
        return f"{seconds * 1000:.0f} ms"
    if round(seconds, 1) < _MINUTE:
        return f"{seconds:.1f}".removesuffix(".0") + " s"
    whole = round(seconds)
    if whole < _HOUR:
        return _in_units((whole // _MINUTE, "min"), (whole % _MINUTE, "s"))
    if whole < _DAY:
        return _in_units((whole // _HOUR, "h"), (whole % _HOUR // _MINUTE, "min"))
    return _in_units((whole // _DAY, "d"), (whole % _DAY // _HOUR, "h"))


def _in_units(*parts: tuple[int, str]) -> str:
    return " ".join(f"{count} {unit}" for count, unit in parts if count)


def text_of(value: object) -> str:
    """Return a value as a table cell; "" if it is unknown."""
    if isinstance(value, float):
        # A whole number, such as a step, is shown with all digits.
        is_whole = value.is_integer() and abs(value) < _LARGEST_WHOLE
        return f"{value:.0f}" if is_whole else f"{value:.6g}"
    if isinstance(value, datetime):
        return value.strftime("%Y-%m-%d %H:%M:%S")
    return exact_text(value)


def exact_text(value: object) -> str:
    """Return a value as a CSV cell with all its digits."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, datetime):
        return time_text(value)
    if isinstance(value, list | tuple | set | frozenset):
        return ", ".join(sorted(map(str, value)))
    return str(value)


def _list_projects(chosen: argparse.Namespace) -> None:
    projects = read_projects()
    if chosen.format == "json":
        print_json_rows({"projects": projects})
        return
    cell = _cell_for(chosen)
    rows = [
        (
            f"{row['workspace']}/{row['slug']}",
            *(str(row[f"{name}_count"]) for name in ("run", "running", "failed")),
            cell(row["last_activity_at"] and to_moment(row["last_activity_at"])),
        )
        for row in projects
    ]
    _show(chosen, _PROJECT_HEADS, rows, "No projects yet.")


def _list_runs(chosen: argparse.Namespace) -> None:
    paths = columns_in(chosen.columns)
    # One more, to detect whether there are more.
    found = read_runs(
        chosen.where,
        project=chosen.project,
        sort=sort_key(chosen.sort),
        columns=paths,
        limit=chosen.limit + 1,
    )
    runs, is_more = found[: chosen.limit], len(found) > chosen.limit
    if chosen.format == "json":
        print_json_rows({"runs": [run_json(run) for run in runs], "more": is_more})
        return
    cell = _cell_for(chosen)
    rows = [
        (
            run.name,
            run.state,
            cell(run.started_at),
            _duration_of(run, chosen),
            ", ".join(run.tags),
            *(cell(run.values.get(path)) for path in paths),
        )
        for run in runs
    ]
    _show(chosen, (*_RUN_HEADS, *paths), rows, "No matching runs.")
    if is_more:
        tell(f"showing the first {chosen.limit:,}; use --limit to show more")


def _list_attributes(chosen: argparse.Namespace) -> None:
    run = read_run(chosen.run, project=chosen.project)
    found = run.attribute_rows(chosen.prefix)
    if chosen.format == "json":
        print_json_rows({"run": run_json(run), "attributes": found})
        return
    _show(
        chosen,
        _ATTRIBUTE_HEADS,
        [_attribute(row, _cell_for(chosen)) for row in found],
        "The run has no matching attributes.",
    )


def run_json(run: StoredRun) -> Json:
    """Return a run as JSON, the same for every command."""
    return {
        "id": run.id,
        "name": run.name,
        "state": run.state,
        "started_at": time_text(run.started_at) if run.started_at else None,
        "ended_at": time_text(run.ended_at) if run.ended_at else None,
        "tags": list(run.tags),
        "attributes": {path: _json_of(value) for path, value in run.values.items()},
    }


def _json_of(value: object) -> object:
    if isinstance(value, float) and not abs(value) < float("inf"):
        return {"inf": "Infinity", "-inf": "-Infinity"}.get(str(value), "NaN")
    if isinstance(value, frozenset):
        return sorted(map(str, value))
    return time_text(value) if isinstance(value, datetime) else value


def _attribute(row: Json, cell: Callable[[object], str]) -> tuple[str, ...]:
    summary = ("count", "minimum", "maximum", "last_step")
    return (
        row["path"],
        row["kind"],
        cell(row["value"]),
        *(cell(row.get(name)) for name in summary),
    )


def _cell_for(chosen: argparse.Namespace) -> Callable[[object], str]:
    return exact_text if chosen.format == "csv" else text_of


def _duration_of(run: StoredRun, chosen: argparse.Namespace) -> str:
    # Shown only for finished runs, as in the runs table.
    seconds = run.duration_seconds
    if seconds is None or run.ended_at is None:
        return ""
    return exact_text(seconds) if chosen.format == "csv" else duration(seconds)


def _show(
    chosen: argparse.Namespace,
    heads: Sequence[str],
    rows: Sequence[Sequence[str]],
    nothing: str,
) -> None:
    if chosen.format == "csv":
        print_csv(heads, rows)
    elif rows:
        print_table(heads, rows)
    else:
        tell(nothing)


def count(text: str) -> int:
    """Parse a positive number; argparse shows this function's name in errors."""
    number = int(text)
    if number < 1:
        raise ValueError
    return number
