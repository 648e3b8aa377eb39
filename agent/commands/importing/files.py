"""Shared code of the import commands: writes a run with times in the past.

It is written through the spool like all runs, so importing works without a server.
"""

from __future__ import annotations

import argparse
import hashlib
import math
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import tzinfo
from pathlib import Path

from seamark.commands.output import (
    MISUSED,
    Refusal,
    tell,
)
from seamark.commands.watched_run import add_names
from seamark.errors import AgentError
from seamark.importers.log_times import UnknownZone, to_moment, zone_of
from seamark.importers.nvidia_query import Clock
from seamark.importers.problems import Problems
from seamark.importers.reading import FileFacts, Reading
from seamark.lifecycle.process_hooks import described
from seamark.reading.runs import read_run, read_runs
from seamark.recording.media.media import Media
from seamark.run import Run
from seamark.settings import Mode, Settings, read_settings

MICROSECONDS = 1_000_000
# Points buffered before waiting for the spool; a twentieth of the capacity.
_POINTS_AT_ONCE = 50_000
# Files that wait to be copied; an eighth of the capacity.
_MEDIA_AT_ONCE = 32
_WRITE_SECONDS = 60.0
_INTERVALS = (0.001, 86_400.0)  # seconds
_CHUNK_BYTES = 1 << 20
_DIGITS = 32  # of a digest, enough to distinguish files
# Imports deliver more data at their end than scripts do.
_DELIVERY_SECONDS = 60.0
# Prefix of the name of an incompletely imported file; file names contain no slash.
_BEGUN = "begun/"
ALREADY_IMPORTED = "already_imported"
# Conditions that a query may have.
_MARKS_AT_ONCE = 20
# Yields the samples of a file, collects problems, and sets facts.
Read = Callable[[Path, Problems, FileFacts], Iterator[Reading]]
# A value, its step, and its time in microseconds since 1970.
Point = tuple[float, float, int]


def add_files(
    parser: argparse.ArgumentParser, help_text: str, *, stage: str = "SEAMARK_STAGE"
) -> None:
    """Add the arguments of all import commands."""
    parser.add_argument("files", nargs="+", metavar="FILE", help=help_text)
    add_names(parser, stage)
    parser.add_argument(
        "--again",
        action="store_true",
        help="import files again that the run already contains",
    )


def add_times(parser: argparse.ArgumentParser) -> None:
    """Add the arguments for files without dates or time zones."""
    add_zone(parser)
    parser.add_argument(
        "--start",
        help="start time, such as 2026-08-12T10:00:00, if the file has no times or dates",
    )


def add_zone(parser: argparse.ArgumentParser) -> None:
    """Add the argument for files whose times have no time zone."""
    parser.add_argument(
        "--zone",
        help="time zone of the file's times: UTC, +02:00 or Europe/Berlin (default: this machine's)",
    )


def zone_from(chosen: argparse.Namespace) -> tzinfo | None:
    """Return the time zone, None for this machine's; raises Refusal."""
    try:
        return zone_of(chosen.zone)
    except UnknownZone:
        raise _misused(f"--zone: unknown time zone {chosen.zone!a}") from None


def clock_of(chosen: argparse.Namespace, every_seconds: float = 1.0) -> Clock:
    """Return the clock for parsing times; raises Refusal for invalid arguments."""
    zone = zone_from(chosen)
    start = None
    if chosen.start is not None:
        start = to_moment(chosen.start, zone)
        if start is None:
            raise _misused("--start must look like 2026-08-12T10:00:00")
    shortest, longest = _INTERVALS
    if not shortest <= every_seconds <= longest:
        raise _misused("--every must be a number of seconds")
    return Clock(zone, start, round(every_seconds * MICROSECONDS))


def settings_of(
    chosen: argparse.Namespace, *, stage: str | None = None, rank: int = 0
) -> Settings:
    """Return the settings of the imported run; nothing of this machine is logged."""
    settings = read_settings(
        chosen.run,
        project=chosen.project,
        stage=chosen.stage or stage,
        rank=rank,
        mode=None,
        monitor=False,
        capture=False,
        strict=False,
        environment=os.environ,
    )
    if settings.mode is Mode.DISABLED:
        raise _misused("SEAMARK_MODE is disabled, so nothing would be stored")
    # Several files without a run name belong to one run.
    chosen.run = settings.run
    return settings


@dataclass
class Imported:
    """The numbers of logged points, values and files, and the points' time range."""

    points: int = 0
    values: int = 0
    files: int = 0
    first: int | None = None  # microseconds since 1970
    last: int | None = None
    problems: dict[str, Problems] = field(default_factory=dict)
    # A run of values only has no points.
    has_run: bool = False
    # The address of the run, if a server is configured.
    url: str | None = None

    def add(self, moment: int, points: int) -> None:
        self.points += points
        self.first = moment if self.first is None else min(self.first, moment)
        self.last = moment if self.last is None else max(self.last, moment)


class Importer:
    """Writes a run with times in the past; opens it with the first sample."""

    def __init__(
        self, settings: Settings, imported: Imported, tags: Sequence[str] = ()
    ) -> None:
        self.settings = settings
        self._imported = imported
        self._tags = tags
        self._run: Run | None = None
        # The mark and file to store with the next sample.
        self._coming: tuple[str, Path] | None = None
        # The last numbers of series with user-defined names.
        self.ends: dict[str, float] = {}
        self._waiting = 0
        self._media = 0
        self._ticks = -1
        self._last_tick: int | None = None
        self._first: int | None = None
        self._last: int | None = None

    def run_at(self, moment: int) -> Run:
        """Return the run, starting it at `moment` if it is not open."""
        if self._run is None:
            self._first = moment
            self._run = Run(self.settings._replace(began_at=moment))
            self._run.start()
            self._imported.has_run = True
            self._imported.url = self._run.url
            if self._tags:
                self._run.add_tags(*self._tags)
        if self._coming is not None:
            (mark, file), self._coming = self._coming, None
            self._run[mark] = f"{_BEGUN}{file.name}"
            # Points survive a crash at once, values only when written: points without a
            # mark would be imported twice.
            self._wait()
        return self._run

    def log(self, values: Mapping[str, float], step: float, moment: int) -> None:
        """Log numbers by path under the stage's namespace."""
        namespace = self.settings.namespace
        named = {f"{namespace}/{path}": value for path, value in values.items()}
        self.run_at(moment).log_at(named, step, moment)
        self._count(moment, len(named))

    def log_readings(self, readings: Iterable[Reading]) -> None:
        """Log samples; those without a step are numbered by their time."""
        for reading in readings:
            if reading.is_users:
                if reading.values:
                    self.log_users(reading.values, reading.step, reading.moment)
                for path, value in reading.others.items():
                    self.append(path, value, reading.step, reading.moment)
                continue
            if reading.moment != self._last_tick:
                self._last_tick = reading.moment
                self._ticks += 1
            self.log(reading.values, float(self._ticks), reading.moment)

    def log_users(
        self, values: Mapping[str, float], step: float | None, moment: int
    ) -> None:
        """Log numbers under the names that their script gave them."""
        self.run_at(moment).log(values, step, moment / MICROSECONDS)
        self.ends.update(values)
        self._count(moment, len(values))

    def append(self, path: str, value: object, step: float | None, moment: int) -> None:
        """Log one text, histogram, picture or table under the script's name for it."""
        run = self.run_at(moment)
        run[path].append(value, step=step, time=moment / MICROSECONDS)
        self._count(moment, 1)
        if isinstance(value, (Media, list)):
            self._media += len(value) if isinstance(value, list) else 1
            if self._media >= _MEDIA_AT_ONCE:
                self._wait()

    def extend(self, path: str, points: Sequence[Point]) -> None:
        """Log numbers of one series, each with its step and time; the run is open."""
        for first in range(0, len(points), _POINTS_AT_ONCE):
            some = points[first : first + _POINTS_AT_ONCE]
            for value, step, moment in some:
                self.run_at(moment).log_at({path: value}, step, moment)
            moments = [moment for _, _, moment in some]
            self._count(min(moments), 1)
            self._count(max(moments), len(some) - 1)

    def log_files(
        self, marks: Mapping[Path, str], read: Read, file_facts: FileFacts
    ) -> None:
        """Log files in the order of their first samples.

        So the run begins with the earliest, and counted steps increase with time.
        """
        for path in _in_order_of_time(marks, read):
            problems = self._imported.problems.setdefault(str(path), Problems())
            with self.importing(marks[path], path):
                self.log_readings(read(path, problems, file_facts))

    def state(self, facts: Mapping[str, object]) -> None:
        """Store facts, if the run is open."""
        if self._run is not None:
            for path, value in facts.items():
                self._run[f"{self.settings.namespace}/facts/{path}"] = value

    def assign(self, values: Mapping[str, object]) -> None:
        """Store attributes, if the run is open."""
        if self._run is not None:
            for path, value in values.items():
                self._run[path] = value
            self._imported.values += len(values)

    @property
    def reference(self) -> str:
        """The run's id on the server, or its name: for runs that continue it."""
        run_id = self._run.id if self._run is not None else None
        return run_id or self.settings.run

    @contextmanager
    def importing(self, mark: str, file: Path) -> Iterator[None]:
        """Mark a file as begun with its first sample, and as complete at the end.

        A file without samples is not marked, so that it can be fixed and imported
        again.
        """
        self._coming = mark, file
        yield
        has_begun = self._coming is None
        self._coming = None
        if has_begun and self._run is not None:
            self._run[mark] = file.name

    def upload(self, path: str, content: Path | bytes, *, name: str) -> None:
        """Store a file under the stage's namespace, and wait until it is copied."""
        if self._run is not None:
            place = f"{self.settings.namespace}/{path}"
            self._run[place].upload(content, name=name, wait=True)

    def attach(self, path: str, content: Path | bytes, name: str | None = None) -> None:
        """Store a file under the user's name for it, and wait until it is copied."""
        if self._run is not None:
            is_stored = self._run[path].upload(content, name=name, wait=True)
            self._imported.files += is_stored

    def finish(self, failure: str = "", end: int | None = None) -> None:
        """Set the end of the run, by default to its last sample, and deliver it.

        With a failure, the run is marked as failed.
        """
        if self._run is None:
            return
        self._wait()
        if failure:
            self._run.note_failure(described(failure))
        ends = [each for each in (self._last, end) if each is not None]
        if ends:
            self._run.note_end(max(ends))
        seconds = max(self.settings.exit_seconds, _DELIVERY_SECONDS)
        self._run.finish(timeout=seconds)

    def _count(self, moment: int, points: int) -> None:
        self._imported.add(moment, points)
        self._last = moment if self._last is None else max(self._last, moment)
        self._waiting += points
        if self._waiting >= _POINTS_AT_ONCE:
            self._wait()

    def _wait(self) -> None:
        self._waiting = self._media = 0
        if self._run is not None and not self._run.wait_until_written(_WRITE_SECONDS):
            raise Refusal(
                "not_written",
                "The offline queue cannot be written, so the import is incomplete. Data "
                "written so far is delivered; free some disk space and import into another "
                "run.",
            )


def files_of(chosen: argparse.Namespace) -> list[Path]:
    """Return the named files and folders; raises Refusal for other paths."""
    paths = [Path(name) for name in chosen.files]
    for path in paths:
        if not path.exists():
            raise Refusal("not_found", f"File not found: {str(path)!a}.")
        if not path.is_file() and not path.is_dir():
            raise Refusal(
                "not_a_file",
                f"{str(path)!a} is a pipe or a device, which cannot be read twice. "
                "Write it to a file first; gzip is supported.",
            )
    return paths


def marks_of(
    chosen: argparse.Namespace,
    settings: Settings,
    paths: Iterable[Path],
    *,
    anywhere: bool = False,
) -> dict[Path, str]:
    """Return the path of each file's mark; raises Refusal if the run has it already.

    With `anywhere`, also if another run of the project has it: runs that keep the names
    of another tracker may share a name. If the server cannot be reached, this is
    unknown, and a warning is printed. Files with the same content are skipped.
    """
    files: dict[str, Path] = {}
    for path in paths:
        file = files.setdefault(mark_of(settings, _digest(path)), path)
        if file is not path:
            tell(f"{str(path)!a} is skipped: {str(file)!a} has the same content")
    known: Mapping[str, object] = {}
    if settings.mode is Mode.ONLINE and not chosen.again:
        if anywhere:
            refuse_imported(settings, [*files])
        else:
            known = _known_files(settings, mark_of(settings, ""))
    for mark, path in files.items():
        if mark in known:
            raise _known(settings.run, path, str(known[mark]))
    return {path: mark for mark, path in files.items()}


def mark_of(settings: Settings, key: str) -> str:
    """Return the path of the attribute that marks a file or run as imported."""
    return f"monitoring/{settings.stage}/imported/{key}"


def _known_files(settings: Settings, folder: str) -> Mapping[str, object]:
    """Return the run's marks of files; empty if they cannot be read."""
    try:
        return read_run(settings.run, project=settings.project).attributes(folder)
    except AgentError as error:
        _tell_unchecked(error)
        return {}


def refuse_imported(settings: Settings, marks: Sequence[str]) -> None:
    """Raise Refusal if a run of the project has one of these marks."""
    for first in range(0, len(marks), _MARKS_AT_ONCE):
        some = marks[first : first + _MARKS_AT_ONCE]
        query = " or ".join(f'exists "{mark}"' for mark in some)
        try:
            found = read_runs(
                query,
                project=settings.project,
                sort="started",
                columns=some,
                limit=1,
            )
        except AgentError as error:
            _tell_unchecked(error)
            return
        for run in found:
            name = next(str(name) for name in run.values.values() if name is not None)
            raise _known(run.name, Path(name.removeprefix(_BEGUN)), name)


def find_marked(settings: Settings, mark: str) -> str:
    """Return the id of the project's run with a mark; "" if there is none."""
    if settings.mode is not Mode.ONLINE:
        return ""
    try:
        found = read_runs(
            f'exists "{mark}"',
            project=settings.project,
            sort="started",
            columns=(),
            limit=1,
        )
    except AgentError:
        return ""
    return found[0].id if found else ""


def _tell_unchecked(error: AgentError) -> None:
    if error.code != "not_found":
        tell(
            "cannot check for an earlier import; if there was one, its points"
            f" are now stored twice: {error}"
        )


def _in_order_of_time(files: Collection[Path], read: Read) -> list[Path]:
    def began_at(path: Path) -> float:
        first = next(read(path, Problems(), FileFacts()), None)
        return math.inf if first is None else first.moment

    # A single file need not be read twice.
    return sorted(files, key=began_at) if len(files) > 1 else list(files)


def _known(run: str, path: Path, value: str) -> Refusal:
    if value.startswith(_BEGUN):
        return Refusal(
            "partly_imported",
            f"The run {run!a} has a part of {str(path)!a} from an incomplete import. "
            "Import it into another run or stage, and delete this run "
            "if it has nothing else; with --again, that part is stored twice.",
        )
    return Refusal(
        ALREADY_IMPORTED,
        f"The run {run!a} already has {str(path)!a}; with --again, its points are "
        "stored twice.",
    )


def _digest(path: Path) -> str:
    found = hashlib.sha256()
    with path.open("rb") as file:
        while data := file.read(_CHUNK_BYTES):
            found.update(data)
    return found.hexdigest()[:_DIGITS]


def _misused(message: str) -> Refusal:
    return Refusal("invalid_usage", message, MISUSED)
