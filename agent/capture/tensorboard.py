"""Follows TensorBoard's event files, and logs what is written to them.

The files are read while the script appends to them, so any writer works: those of
PyTorch, tensorboardX, TensorFlow and Keras. Nothing is patched.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from seamark.errors import AgentError
from seamark.importers.tensorboard import (
    Bins,
    Damaged,
    Event,
    Hyperparameters,
    Picture,
    Value,
    read_event,
    read_record,
)
from seamark.lifecycle.background import Background
from seamark.recording.attributes import Recorder
from seamark.recording.media.histogram import Histogram
from seamark.recording.media.media import Image
from seamark.user_warnings import Notices

_INTERVAL_SECONDS = 1.0
# Searches become rarer as the run gets older: a tenth of its age, up to this.
_MAX_SEARCH_SECONDS = 30.0
# The thread rests this many times as long as it worked: 5 % of one core at most.
_REST_FACTOR = 19
_READ_BYTES = 256 << 10  # in one turn
MAX_RECORD_BYTES = 32 << 20
_MARK = "tfevents"
_MAX_FOLDERS = 1_000
_MAX_DEPTH = 6
_MAX_FILES = 1_000
_SKIPPED_FOLDERS = frozenset({"__pycache__", "node_modules", "site-packages"})
# Writers of one job: their names tell their series apart.
SPLITS = frozenset({"train", "val", "valid", "validation", "eval", "test"})
_SIGNATURES = ((b"GIF8", "image/gif"), (b"\xff\xd8\xff", "image/jpeg"))

# Files that a run of this process follows: two runs in a row do not share one.
_followed: set[Path] = set()


class TensorBoardFiles:
    """The event files of this process, and the thread that reads them."""

    def __init__(
        self, folder: str, process: int, recorder: Recorder, notices: Notices
    ) -> None:
        """`folder` is searched for files written from now on.

        "": the files that the process has open, and those below the working directory
        with the process's id in their names.
        """
        self._folder = Path(folder) if folder else None
        self._process = process
        self._recorder = recorder
        self._notices = notices
        # File systems have coarser clocks.
        self._began_at = time.time() - 1.0
        self._files: dict[Path, _EventFile] = {}
        # The folder whose series need no prefix.
        self._root: Path | None = None
        self._next_search = 0.0  # by the clock of time.monotonic
        self._deadline: float | None = None
        self.background = Background("seamark-tensorboard", self._turn)

    def finish(self, seconds: float) -> None:
        """Read the rest of the files, for so many seconds at most."""
        self._deadline = time.monotonic() + seconds
        self.background.stop(seconds)

    def _turn(self) -> float:
        began = time.monotonic()
        if began >= self._next_search or self._deadline is not None:
            self._search()
            self._next_search = began + self._search_rest(time.monotonic() - began)
        is_more = self._read()
        while is_more and self._deadline is not None:
            if time.monotonic() > self._deadline:
                self._notices.warn(
                    "tensorboard late",
                    "TensorBoard event files were not read completely before the run ended",
                )
                break
            is_more = self._read()
        rest = _REST_FACTOR * (time.monotonic() - began)
        return rest if is_more else max(rest, _INTERVAL_SECONDS)

    def _search_rest(self, took: float) -> float:
        age = time.time() - self._began_at
        return max(
            _INTERVAL_SECONDS, min(age / 10, _MAX_SEARCH_SECONDS), _REST_FACTOR * took
        )

    def _search(self) -> None:
        # The oldest first: names begin with the time of creation.
        for path in sorted(self._found(), key=lambda path: (path.name, path)):
            if len(self._files) >= _MAX_FILES:
                return
            if path not in _followed:
                _followed.add(path)
                self._files[path] = _EventFile(path, self._prefix(path.parent))

    def _found(self) -> Iterator[Path]:
        if self._folder is not None:
            yield from (
                path for path in event_files_below(self._folder) if self._is_new(path)
            )
            return
        yield from _open_files(self._process)
        # Writers without TensorFlow open their file for each write.
        mark = f".{self._process}."
        for path in event_files_below(Path.cwd()):
            if mark in path.name and self._is_new(path):
                yield path

    def _is_new(self, path: Path) -> bool:
        try:
            return path.stat().st_mtime >= self._began_at
        except OSError:
            return False

    def _prefix(self, folder: Path) -> str:
        """Return the beginning of a file's paths: "" for the first folder."""
        if self._root is None:
            self._root = folder.parent if folder.name in SPLITS else folder
        if folder == self._root:
            return ""
        if folder.is_relative_to(self._root):
            return f"{folder.relative_to(self._root)}/"
        return f"{folder.name}/"

    def _read(self) -> bool:
        """Log what was added to the files; return whether there is more to read."""
        has_more = [self._read_file(file) for file in self._files.values()]
        return True in has_more

    def _read_file(self, file: _EventFile) -> bool:
        try:
            for event in file.events():
                self._log(event, file.prefix)
        except Damaged:
            file.is_over = True
            self._notices.warn(
                f"tensorboard {file.path}",
                f"{file.path} is damaged; the rest is not logged",
            )
        except OSError:
            # Deleted, or on a file system that is away: the next turn tries again.
            return False
        return file.is_more

    def _log(self, event: Event, prefix: str) -> None:
        for tag, value in event.values:
            with suppress(AgentError):
                # A strict run raises in its own calls only.
                if isinstance(value, Hyperparameters):
                    self._recorder.set_value("params", value.values)
                    continue
                path = self._recorder.own_path(prefix + tag)
                moment = event.time or None
                self._recorder.append(path, loggable(value), event.step, moment)


class _EventFile:
    """One file, and how far it is read."""

    def __init__(self, path: Path, prefix: str) -> None:
        self.path = path
        self.prefix = prefix
        self.is_more = False
        # Nothing more can be read from it.
        self.is_over = False
        self._offset = 0
        self._plugins: dict[str, str] = {}

    def events(self) -> Iterator[Event]:
        """Yield the events that were added, up to the limit of one turn."""
        self.is_more = False
        if self.is_over or self.path.stat().st_size <= self._offset:
            return
        end = self._offset + _READ_BYTES
        with self.path.open("rb") as file:
            while self._offset < end:
                file.seek(self._offset)
                data, size = read_record(file, MAX_RECORD_BYTES)
                if not size:
                    return
                self._offset += size
                if data is not None:
                    with suppress(ValueError):
                        yield read_event(data, self._plugins)
        self.is_more = True


def loggable(value: Value) -> object:
    """Return the value as the SDK's logging calls accept it."""
    if isinstance(value, Bins):
        return Histogram(edges=value.edges, counts=value.counts)
    if not isinstance(value, Picture):
        return value
    kinds = (kind for start, kind in _SIGNATURES if value.data.startswith(start))
    return Image(value.data, media_type=next(kinds, "image/png"))


def _open_files(process: int) -> Iterator[Path]:
    """Yield the event files that the process has open for writing."""
    with suppress(OSError):
        for link in Path(f"/proc/{process}/fd").iterdir():
            with suppress(OSError):
                target = link.readlink()
                # The link's mode shows whether the file is open for writing; TensorBoard only reads.
                is_written = link.lstat().st_mode & stat.S_IWUSR
                if _MARK in target.name and is_written and target.is_file():
                    yield target


def event_files_below(folder: Path) -> Iterator[Path]:
    """Yield the event files below a folder; hidden folders and links are left out."""
    left, seen = [(folder, 0)], 0
    while left and seen < _MAX_FOLDERS:
        current, depth = left.pop(0)
        seen += 1
        with suppress(OSError), os.scandir(current) as entries:
            for entry in entries:
                if _MARK in entry.name:
                    yield Path(entry.path)
                elif depth < _MAX_DEPTH and _is_searched(entry):
                    left.append((Path(entry.path), depth + 1))


def _is_searched(entry: os.DirEntry[str]) -> bool:
    is_left_out = entry.name.startswith(".") or entry.name in _SKIPPED_FOLDERS
    return not is_left_out and entry.is_dir(follow_symlinks=False)
