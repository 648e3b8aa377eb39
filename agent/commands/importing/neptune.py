"""Import runs of Neptune, exported by neptune-exporter as Parquet files.

Accepts the folder of an export, with `data` and `files` in it, or its data folder. Each
run keeps its name, project, tags, times, values, series, texts, histograms, files and
forks, unless other names are given. Needs pyarrow.
"""

from __future__ import annotations

import argparse
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from seamark.commands.importing.files import (
    Imported,
    Importer,
    add_files,
    files_of,
    find_marked,
    mark_of,
)
from seamark.commands.importing.lineage import parents_first
from seamark.commands.importing.neptune_values import (
    Writer,
    store_long_texts,
    usable_values,
)
from seamark.commands.importing.sources import Mark, Source, import_marked
from seamark.commands.output import Refusal, counted, tell
from seamark.importers.neptune.export import (
    Header,
    Parts,
    Unreadable,
    find_runs,
    read_header,
    read_rows,
)
from seamark.importers.problems import Problems
from seamark.settings import Settings

HELP = "import runs of Neptune, exported by neptune-exporter"
EXAMPLES = (
    "seamark import neptune exports",
    "seamark import neptune exports --project digits --no-upload",
    "seamark import neptune backup/data --files-path backup/files",
)

_UNNAMED = frozenset({"", "Untitled"})
_MICROSECONDS = 1_000_000
_DIGITS = 32  # of a digest, enough to distinguish runs
_SYSTEM = "sys/"
_STORED_ELSEWHERE = frozenset({"sys/tags", "sys/group_tags", "sys/description"})


@dataclass
class _Exported:
    """A run of an export, or the reason why it cannot be read."""

    parts: Parts
    header: Header = field(default_factory=Header)
    problem: str = ""

    @property
    def key(self) -> tuple[str, str]:
        header = self.header
        return header.project, header.run_id or str(self.parts.folder / self.parts.name)

    @property
    def parent(self) -> tuple[str, str]:
        return self.header.project, self.header.text("sys/forking/parent")

    @property
    def name(self) -> str:
        name = self.header.text("sys/name")
        if name not in _UNNAMED:
            return name
        custom = self.header.text("sys/custom_run_id")
        return custom or self.header.run_id or self.parts.name


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_files(parser, "the folder of an export, or a part of one run (*.parquet)")
    parser.add_argument(
        "--files-path",
        metavar="FOLDER",
        help="the exporter's folder of files; default: `files` next to the data folder",
    )
    parser.add_argument(
        "--no-upload", action="store_true", help="do not import the runs' files"
    )


def perform(chosen: argparse.Namespace) -> int:
    _check_pyarrow()
    if chosen.files_path is not None and not Path(chosen.files_path).is_dir():
        raise Refusal("not_found", f"Folder not found: {chosen.files_path!a}.")
    exported = [_read(parts) for parts in _found(chosen)]
    runs = parents_first(exported, lambda run: run.key, lambda run: run.parent)
    # The imported runs that forks may continue.
    places: dict[tuple[str, str], str] = {}

    def import_run(
        own: argparse.Namespace, settings: Settings, run: _Exported, mark: Mark
    ) -> Imported:
        return _import(own, settings, run, places, mark)

    return import_marked(chosen, [(_source(run), run) for run in runs], import_run)


def _source(run: _Exported) -> Source:
    return Source(
        run=run.name,
        project=run.header.project.rpartition("/")[2],
        key=run.header.run_id or run.parts.name,
        mark=_mark(run.key),
    )


def _check_pyarrow() -> None:
    try:
        import pyarrow.parquet  # noqa: F401, PLC0415 - an optional package
    except ImportError:
        raise Refusal(
            "missing_package",
            "Reading an export of Neptune needs pyarrow: run `pip install pyarrow`.",
        ) from None


def _found(chosen: argparse.Namespace) -> list[Parts]:
    found: list[Parts] = []
    for path in files_of(chosen):
        folder = path if path.is_dir() else path.parent
        runs, models = find_runs(folder)
        if path.is_file():
            runs = [run for run in runs if path in run.files]
        if models:
            tell(
                f"{str(path)!a}: {counted(models, 'file')} of the model registry "
                "skipped: Seamark has no model registry"
            )
        if not runs:
            raise Refusal(
                "not_found",
                f"No run of neptune-exporter (*_part_0.parquet) in {str(path)!a}. Name"
                " the exporter's data folder, by default exports/data.",
            )
        found += runs
    return found


def _read(parts: Parts) -> _Exported:
    if not parts.is_complete:
        problem = "a part is missing, so the export is incomplete; export it again"
        return _Exported(parts, problem=problem)
    try:
        header = read_header(parts.files)
    except Unreadable as error:
        return _Exported(parts, problem=str(error))
    if not header.run_id:
        return _Exported(parts, problem="it has no rows")
    return _Exported(parts, header)


def _mark(key: Sequence[str]) -> str:
    digest = hashlib.sha256("\0".join(key).encode("utf-8", "replace"))
    return f"neptune-{digest.hexdigest()[:_DIGITS]}"


def _import(
    chosen: argparse.Namespace,
    settings: Settings,
    run: _Exported,
    places: dict[tuple[str, str], str],
    mark: Mark,
) -> Imported:
    if run.problem:
        name = str(run.parts.files[0])
        raise Refusal("unreadable", f"{name!a} cannot be imported: {run.problem}.")
    imported, header = Imported(), run.header
    problems = imported.problems.setdefault(header.run_id, Problems(noun="value"))
    began_at = _began_at(run)
    importer = Importer(
        _with_origin(settings, run, places, problems),
        imported,
        [*chosen.tag, *_tags(header)],
    )
    folder = None if chosen.no_upload else _files_folder(chosen, run.parts)
    with importer.importing(*mark):
        importer.run_at(began_at)
        writer = Writer(importer, folder, began_at=began_at)
        for file in run.parts.files:
            writer.problems = imported.problems[str(file)] = Problems(noun="row")
            try:
                for rows in read_rows(file, writer.problems):
                    writer.write(rows)
            except Unreadable as error:
                writer.finish()
                importer.finish()
                raise Refusal(
                    "unreadable", f"{str(file)!a} is imported in part: {error}."
                ) from error
        writer.finish()
        # After the points: only values below `parameters` are parameters.
        values = _values(importer, header, problems)
        importer.assign({p: v for p, v in values.items() if not p.startswith(_SYSTEM)})
        # The origin differs between all runs: as values it would fill the runs table.
        importer.state(
            {
                f"neptune/{path.removeprefix(_SYSTEM)}": value
                for path, value in {**values, "sys/run_id": header.run_id}.items()
                if path.startswith(_SYSTEM)
            }
        )
    places[run.key] = importer.reference
    failure = "Neptune: the run failed" if header.values.get("sys/failed") else ""
    ends = [began_at, header.time("sys/ping_time"), imported.last]
    importer.finish(failure, max(end for end in ends if end is not None))
    return imported


def _with_origin(
    settings: Settings,
    run: _Exported,
    places: Mapping[tuple[str, str], str],
    problems: Problems,
) -> Settings:
    """Return the settings of a run that continues its parent, if it has one."""
    _, parent = run.parent
    if not parent:
        return settings
    place = places.get(run.parent)
    if place is None:
        # Imported by an earlier command.
        place = find_marked(settings, mark_of(settings, _mark(run.parent)))
    try:
        step = float(run.header.text("sys/forking/step"))
    except ValueError:
        place = ""
    if not place:
        problems.add(
            f"the run continues {parent[:60]!a}, which is not imported: its points are"
            " missing",
            1,
        )
        return settings
    return settings._replace(fork_from=place, fork_step=step)


def _began_at(run: _Exported) -> int:
    known = [run.header.time("sys/creation_time"), run.header.first]
    found = [moment for moment in known if moment is not None and moment >= 0]
    if found:
        return min(found)
    return round(run.parts.files[0].stat().st_mtime * _MICROSECONDS)


def _tags(header: Header) -> list[str]:
    found: list[str] = []
    for path in ("sys/tags", "sys/group_tags"):
        value = header.values.get(path)
        found += map(str, value) if isinstance(value, list) else []
    return found


def _values(
    importer: Importer, header: Header, problems: Problems
) -> dict[str, object]:
    kept = {p: v for p, v in header.values.items() if p not in _STORED_ELSEWHERE}
    values = usable_values(store_long_texts(importer, kept, problems), problems)
    if description := header.text("sys/description"):
        values["description"] = description
    return values


def _files_folder(chosen: argparse.Namespace, parts: Parts) -> Path:
    """Return the folder of the project's files; it need not exist."""
    project = parts.folder
    if chosen.files_path is not None:
        return Path(chosen.files_path) / project.name
    return project.parent.parent / "files" / project.name
