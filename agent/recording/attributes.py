"""Turns calls into changes of a run; series are handled by SeriesRecorder."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from os import PathLike, fsdecode
from pathlib import Path
from time import time_ns

from seamark.errors import AgentError, NotStored, UnsupportedValue
from seamark.path import clean_path
from seamark.queue.buffer import Change, Rewind, SetValue
from seamark.recording.file_contents import Job, is_content, to_content
from seamark.recording.media.histogram import Histogram
from seamark.recording.nested import flatten
from seamark.recording.path_types import Kind
from seamark.recording.series import SeriesRecorder
from seamark.recording.values import to_value


class Recorder(SeriesRecorder):
    """Stores a run's data: series, values, tags and files."""

    def put(self, change: Change) -> None:
        """Queue a change of attributes or tags."""
        if self.is_awake or self._wake():
            self.buffer.put(change)

    def set_value(self, path: str, value: object) -> None:
        """Set an attribute, or several from nested dictionaries."""
        if not self._is_taking():
            return
        try:
            leaves = list(flatten(path, value, refuse=self.refuse))
        except AgentError as error:
            self.refuse(error, path)
            return
        early = not self.layouts.is_used
        for leaf_path, leaf in leaves:
            self._set_leaf(leaf_path, leaf, early=early)

    def note(self, path: str, text: str, step: float | None) -> None:
        """Log a text at a step; by default the last one that the script logged."""
        if not isinstance(text, str):
            self.refuse(UnsupportedValue(text, "is not a note: text"), path)
            return
        if step is None and (self.is_awake or self._wake()):
            step = max(self._first_step, self.layouts.last_step())
        self.append(path, text, step, None)

    def log_again(self, steps: Mapping[str, float]) -> None:
        """Replace the points of each series from a step on with those logged from now
        on.
        """
        now = time_ns() // 1_000
        for path, step in steps.items():
            # An invalid path was rejected when it was logged.
            with suppress(AgentError):
                self.put(Rewind(self.own_path(path), step, now))

    def upload(
        self,
        path: str,
        value: object,
        *,
        name: str | None = None,
        media_type: str | None = None,
        wait: bool = False,
    ) -> bool:
        """Store a file at a path; return False if it is known to have failed."""
        if not self._is_taking():
            return False
        try:
            content = to_content(
                value,
                fallback=path.rpartition("/")[2],
                name=name,
                media_type=media_type,
            )
            try:
                self.claim(path, Kind.FILE)
            except AgentError:
                content.close()
                raise
        except AgentError as error:
            self.refuse(error, path)
            return False
        return self._store(Job(path, content, is_awaited=wait))

    def upload_files(
        self, path: str, pattern: str | PathLike[str], *, wait: bool
    ) -> bool:
        """Store the files that match a pattern under a path; returns as `upload` does."""
        if not self._is_taking():
            return False
        try:
            text = fsdecode(pattern)
            # The pattern is resolved later, possibly in another working directory.
            folder = "" if Path(text).is_absolute() else str(Path.cwd())
        except Exception:  # noqa: BLE001 - a path's own code ran
            text = folder = ""
        if text:
            return self._store(Job(path, None, text, folder=folder, is_awaited=wait))
        self.refuse(UnsupportedValue(pattern, "is not a path of files"), path)
        return False

    def _store(self, job: Job) -> bool:
        self._jobs.put(job)
        if not job.is_awaited:
            return not job.problem
        if not job.is_stored:
            self._refusals.check(NotStored(job.path, job.problem))
        return job.is_stored

    def _set_leaf(self, path: str, value: object, *, early: bool) -> None:
        try:
            if is_content(value):
                # As with `upload`, each rank has its own file if ranks are separated.
                self.upload(self.own_path(path), value)
                return
            if isinstance(value, Histogram):
                # Histograms are only stored in series.
                self.append(path, value, None, None)
                return
            cleaned = clean_path(path)
            # A rejected value does not fix the kind of its path.
            stored = to_value(value)
            # None does not fix the kind: a file may follow.
            if stored is not None or cleaned in self._kinds:
                self.claim(cleaned, Kind.VALUE)
            self.put(SetValue(cleaned, stored, early))
        except AgentError as error:
            self.refuse(error, path)
