"""What importing commands have in common: a run for what was measured before.

It is written as all runs are, over the spool; so it works without a server, too.
"""

from __future__ import annotations

import argparse
import hashlib
import math
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path

from seamark.commands.output import (
    MISUSED,
    Refusal,
    clean,
    counted,
    say,
    say_json,
    tell,
)
from seamark.commands.watched import add_names
from seamark.errors import AgentError
from seamark.importers.moments import UnknownZone, to_moment, zone_of
from seamark.importers.noted import Noted
from seamark.importers.nvidia_query import Clock
from seamark.importers.reading import Reading, Stated
from seamark.reading.runs import read_run
from seamark.run import Run
from seamark.settings import Mode, Settings, read_settings

MICROSECONDS = 1_000_000
# So much may wait for the spool; a twentieth of what would fit.
_POINTS_AT_ONCE = 50_000
_WRITE_SECONDS = 60.0
_INTERVALS = (0.001, 86_400.0)  # seconds
_CHUNK_BYTES = 1 << 20
_DIGITS = 32  # of a digest, which is long enough to tell files apart
# What is imported is more than what a script leaves at its end.
_DELIVERY_SECONDS = 60.0
# Before the name of a file that is not imported whole; no name has a slash.
_BEGUN = "begun/"
# Yields what a file holds; notes what of it is not understood, and states facts.
Read = Callable[[Path, Noted, Stated], Iterator[Reading]]


def add_files(
    parser: argparse.ArgumentParser, help_text: str, *, stage: str = "SEAMARK_STAGE"
) -> None:
    """Offer what every importing command takes."""
    parser.add_argument("files", nargs="+", metavar="FILE", help=help_text)
    add_names(parser, stage)
    parser.add_argument(
        "--again", action="store_true", help="also what the run already holds"
    )


def add_times(parser: argparse.ArgumentParser) -> None:
    """Offer what says when something was, where the file does not."""
    parser.add_argument(
        "--zone",
        help="the zone of its times: UTC, +02:00 or Europe/Berlin; by default this "
        "machine's",
    )
    parser.add_argument(
        "--start",
        help="when it began, as 2026-08-12T10:00:00, if it has no times or no dates",
    )


def clock_of(chosen: argparse.Namespace, every_seconds: float = 1.0) -> Clock:
    """Return how times are to be read, or refuse what cannot be meant."""
    try:
        zone = zone_of(chosen.zone)
    except UnknownZone:
        raise _misused(f"--zone: there is no zone {chosen.zone!a}") from None
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
    """Return whose run it becomes; nothing of this process or machine is logged."""
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
    # One file after the other, without a name given: one run.
    chosen.run = settings.run
    return settings


@dataclass
class Imported:
    """How much was logged, and from when to when."""

    points: int = 0
    first: int | None = None  # microseconds since 1970
    last: int | None = None
    noted: dict[str, Noted] = field(default_factory=dict)

    def add(self, moment: int, points: int) -> None:
        self.points += points
        self.first = moment if self.first is None else min(self.first, moment)
        self.last = moment if self.last is None else max(self.last, moment)


class Importer:
    """A run that is written to with times of the past; opened with the first of them."""

    def __init__(
        self, settings: Settings, imported: Imported, tags: Sequence[str] = ()
    ) -> None:
        self.settings = settings
        self._imported = imported
        self._tags = tags
        self._run: Run | None = None
        # Where to remember which file, once it gives something.
        self._coming: tuple[str, Path] | None = None
        # The last numbers of series that are called as users call them.
        self.ends: dict[str, float] = {}
        self._waiting = 0
        self._ticks = -1
        self._last_tick: int | None = None
        self._first: int | None = None
        self._last: int | None = None

    def run_at(self, moment: int) -> Run:
        """Return the run, which begins then if it has not begun."""
        if self._run is None:
            self._first = moment
            self._run = Run(self.settings._replace(began_at=moment))
            self._run.start()
            if self._tags:
                self._run.add_tags(*self._tags)
        if self._coming is not None:
            (mark, file), self._coming = self._coming, None
            self._run[mark] = f"{_BEGUN}{file.name}"
            # Points are safe at once from whatever ends the process, and values once
            # they are written: points without a mark would be imported again.
            self._wait()
        return self._run

    def log(self, values: Mapping[str, float], step: float, moment: int) -> None:
        """Log numbers by path below the stage's namespace."""
        namespace = self.settings.namespace
        named = {f"{namespace}/{path}": value for path, value in values.items()}
        self.run_at(moment).log_at(named, step, moment)
        self._count(moment, len(named))

    def log_readings(self, readings: Iterable[Reading]) -> None:
        """Log readings; those that have no step are numbered by their time."""
        for reading in readings:
            if reading.is_users:
                run = self.run_at(reading.moment)
                run.log(reading.values, reading.step, reading.moment / MICROSECONDS)
                self.ends.update(reading.values)
                self._count(reading.moment, len(reading.values))
                continue
            if reading.moment != self._last_tick:
                self._last_tick = reading.moment
                self._ticks += 1
            self.log(reading.values, float(self._ticks), reading.moment)

    def log_files(self, marks: Mapping[Path, str], read: Read, stated: Stated) -> None:
        """Log what files hold, in the order of their first readings.

        So the run begins with the earliest, and steps that are counted go on with time.
        """
        for path in _in_order_of_time(marks, read):
            noted = self._imported.noted.setdefault(str(path), Noted())
            with self.importing(marks[path], path):
                self.log_readings(read(path, noted, stated))

    def state(self, facts: Mapping[str, object]) -> None:
        """Store facts, if there is a run to store them in."""
        if self._run is not None:
            for path, value in facts.items():
                self._run[f"{self.settings.namespace}/facts/{path}"] = value

    def assign(self, values: Mapping[str, object]) -> None:
        """Store values as scripts do, if there is a run to store them in."""
        if self._run is not None:
            for path, value in values.items():
                self._run[path] = value

    @contextmanager
    def importing(self, mark: str, file: Path) -> Iterator[None]:
        """Store with a file's first reading that it has begun, and then that it is whole.

        A file that gives nothing is not remembered, so that it can be mended and come
        again.
        """
        self._coming = mark, file
        yield
        has_begun = self._coming is None
        self._coming = None
        if has_begun and self._run is not None:
            self._run[mark] = file.name

    def upload(self, path: str, content: Path | bytes, *, name: str) -> None:
        """Store a file below the stage's namespace, and wait until it is copied."""
        if self._run is not None:
            place = f"{self.settings.namespace}/{path}"
            self._run[place].upload(content, name=name, wait=True)

    def finish(self) -> None:
        """Say that the run ended when its last reading was taken, and deliver it."""
        if self._run is None:
            return
        self._wait()
        if self._last is not None:
            self._run.note_end(self._last)
        seconds = max(self.settings.exit_seconds, _DELIVERY_SECONDS)
        self._run.finish(timeout=seconds)

    def _count(self, moment: int, points: int) -> None:
        self._imported.add(moment, points)
        self._last = moment if self._last is None else max(self._last, moment)
        self._waiting += points
        if self._waiting >= _POINTS_AT_ONCE:
            self._wait()

    def _wait(self) -> None:
        self._waiting = 0
        if self._run is not None and not self._run.wait_until_written(_WRITE_SECONDS):
            raise Refusal(
                "not_written",
                "The spool cannot be written, so not everything is imported. What was "
                "written so far is delivered; import into another run once there is "
                "room.",
            )


def files_of(chosen: argparse.Namespace) -> list[Path]:
    """Return the files and folders that were named, or refuse what is none."""
    paths = [Path(name) for name in chosen.files]
    for path in paths:
        if not path.exists():
            raise Refusal("not_found", f"There is no file {str(path)!a}.")
        if not path.is_file() and not path.is_dir():
            raise Refusal(
                "not_a_file",
                f"{str(path)!a} is a pipe or a device, and would be read more than once:"
                " write it to a file first, and name that. It may be compressed by"
                " gzip.",
            )
    return paths


def marks_of(
    chosen: argparse.Namespace, settings: Settings, paths: Iterable[Path]
) -> dict[Path, str]:
    """Return where the run remembers each file; refuse one that it remembers already.

    Where no server can be asked, nobody knows, and it says so. What a file before it
    holds is passed over.
    """
    folder = f"monitoring/{settings.stage}/imported"
    files: dict[str, Path] = {}
    for path in paths:
        file = files.setdefault(f"{folder}/{_digest(path)}", path)
        if file is not path:
            tell(f"{str(path)!a} is passed over, as {str(file)!a} holds the same")
    known: Mapping[str, object] = {}
    if settings.mode is Mode.ONLINE and not chosen.again:
        known = _known_files(settings, f"{folder}/")
    for mark, path in files.items():
        if mark in known:
            raise _known(settings.run, path, str(known[mark]))
    return {path: mark for mark, path in files.items()}


def _known_files(settings: Settings, folder: str) -> Mapping[str, object]:
    """Return what the run remembers of files; nothing if that cannot be asked."""
    try:
        return read_run(settings.run, project=settings.project).attributes(folder)
    except AgentError as error:
        if error.code != "not_found":
            tell(
                "whether it was imported before could not be asked, and if so its points"
                f" are there twice: {error}"
            )
        return {}


def _in_order_of_time(files: Collection[Path], read: Read) -> list[Path]:
    def began_at(path: Path) -> float:
        first = next(read(path, Noted(), Stated()), None)
        return math.inf if first is None else first.moment

    # One alone need not be read twice.
    return sorted(files, key=began_at) if len(files) > 1 else list(files)


def _known(run: str, path: Path, value: str) -> Refusal:
    if value.startswith(_BEGUN):
        return Refusal(
            "partly_imported",
            f"The run {run!a} holds a part of {str(path)!a}, whose import was begun and "
            "is not complete. Import it into another run or stage, and delete this run "
            "if it holds nothing else; with --again, that part will be there twice.",
        )
    return Refusal(
        "already_imported",
        f"The run {run!a} already holds {str(path)!a}; with --again, its points will be "
        "there twice.",
    )


def _digest(path: Path) -> str:
    found = hashlib.sha256()
    with path.open("rb") as file:
        while data := file.read(_CHUNK_BYTES):
            found.update(data)
    return found.hexdigest()[:_DIGITS]


def report(chosen: argparse.Namespace, settings: Settings, imported: Imported) -> int:
    """Say what was imported and what was not understood; return the exit code."""
    found = settings_words(settings)
    if chosen.json:
        say_json(
            {
                **found,
                "points": imported.points,
                "from": _shown(imported.first),
                "to": _shown(imported.last),
                "not_understood": [
                    {"file": name, "cause": cause, "lines": lines, "count": count}
                    for name, noted in imported.noted.items()
                    for cause, (lines, count) in noted.causes.items()
                ],
            }
        )
    for name, noted in imported.noted.items():
        for sentence in noted.sentences():
            tell(clean(f"{name}, {sentence}"))
    if not imported.points:
        tell("nothing of it could be imported")
        return 1
    if not chosen.json:
        say(
            f"{counted(imported.points, 'point')} from {_shown(imported.first)} to "
            f"{_shown(imported.last)} are in the run {clean(settings.run)!a} of "
            f"{clean(settings.project)!a}, stage {clean(settings.stage)!a}."
        )
    return 0


def settings_words(settings: Settings) -> dict[str, str]:
    return {
        "run": settings.run,
        "project": settings.project,
        "stage": settings.stage,
    }


def _shown(moment: int | None) -> str | None:
    if moment is None:
        return None
    at = datetime.fromtimestamp(moment / MICROSECONDS, timezone.utc)
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")


def _misused(message: str) -> Refusal:
    return Refusal("invalid_usage", message, MISUSED)
