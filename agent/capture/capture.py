"""Automatic capture of a process from init() to its end."""

from __future__ import annotations

import contextlib
import logging
import os
import time
from collections.abc import Callable, Mapping
from datetime import datetime, timezone
from types import TracebackType
from typing import TYPE_CHECKING

from seamark.capture.choice import OF_FIRST_RANK
from seamark.capture.console import Console
from seamark.capture.facts import Facts
from seamark.capture.script import find_script
from seamark.capture.signals import Signals
from seamark.capture.sources import make_sources
from seamark.capture.texts import redacted_beginning
from seamark.errors import AgentError
from seamark.lifecycle.background import Background, importing
from seamark.lifecycle.exit_deadline import Ending
from seamark.queue.buffer import SetValue
from seamark.recording.attributes import Recorder
from seamark.recording.values import LONGEST_SET_STRING, Value
from seamark.settings import Settings
from seamark.user_warnings import Notices

if TYPE_CHECKING:
    from seamark.capture.tensorboard import TensorBoardFiles

logger = logging.getLogger(__name__)

# How long the end of a script waits for the console.
_LAST_SECONDS = 2.0
_FOR_EVER_SECONDS = 86_400.0


class Capture:
    """Captures the console continuously, and all other sources once, in threads."""

    def __init__(
        self, settings: Settings, recorder: Recorder, notices: Notices
    ) -> None:
        self._namespace = settings.namespace
        self._recorder = recorder
        self._notices = notices
        sources = settings.capture
        self._sources = sources - OF_FIRST_RANK if settings.rank else sources
        self._settings = settings
        self._script = find_script(is_watching=settings.watched is not None)
        self._redact = _Redaction()
        self._console: Console | None = None
        if "console" in sources:
            self._console = Console(self._store_line, self._redact)
        self._signals = Signals() if "signals" in sources else None
        self._tensorboard = _tensorboard_files(settings, recorder, notices)
        self._is_collected = False
        self._gatherer = Background("seamark-capture", self._turn)

    @property
    def threads(self) -> list[Background]:
        parts = (self._console, self._tensorboard)
        return [self._gatherer, *(part.background for part in parts if part)]

    def start(self) -> None:
        """Start; slow work is left to threads."""
        if self._signals is not None and not self._signals.open():
            self._signals = None
        if self._console is not None and self._settings.watched is not None:
            self._console.follow(self._settings.followed)
            self._console.hear(self._settings.relays)
        elif self._console is not None:
            for name in self._console.attach():
                self._notices.inform(f"console {name}", f"sys.{name} is not captured")
        self.keep_alive()

    def keep_alive(self) -> None:
        """Start the threads, or restart dead ones."""
        if self._console is not None:
            self._console.background.ensure()
        if self._tensorboard is not None:
            self._tensorboard.background.ensure()
        if self._sources and not self._is_collected:
            self._gatherer.ensure()

    def look_for_signals(self) -> None:
        """Store new signals; `finish` does too, and before then they have no other use."""
        if self._signals is not None:
            for name in self._signals.take():
                self._store("signals", {name: datetime.now(timezone.utc)})

    def note_exception(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Store the exception that ends the process."""
        if "failure" not in self._sources:
            return
        with importing():
            from seamark.capture import failure  # noqa: PLC0415 - few processes fail
        self._store("failure", failure.facts(kind, error, trace))

    @property
    def was_preempted(self) -> bool:
        """Whether a signal asked the process to end a short while ago."""
        return self._signals is not None and self._signals.was_preempted

    def finish(self, ending: Ending) -> None:
        """Store the last captured data; slow work is skipped."""
        if self._console is not None:
            self._console.finish(ending.left_of_first(_LAST_SECONDS))
        self._gatherer.stop(ending.left_for_most)
        if self._tensorboard is not None:
            self._tensorboard.finish(ending.left_for_most)
        self.look_for_signals()
        if self._signals is not None:
            self._signals.close()

    def forget(self) -> None:
        """Release the parent's streams in a forked child."""
        if self._console is not None:
            self._console.forget()

    def _turn(self) -> float:
        if not self._is_collected:
            self._is_collected = True
            self._collect_facts()
        return _FOR_EVER_SECONDS

    def _collect_facts(self) -> None:
        for name, (prefix, facts_of) in make_sources(self._script).items():
            if name in self._sources and self._recorder.is_awake:
                self._store(prefix, self._facts(name, facts_of))

    def _facts(self, name: str, facts_of: Callable[[], Facts]) -> Facts:
        try:
            return facts_of()
        except Exception as error:
            # Broad: machines differ in unforeseeable ways, and the other sources must
            # continue.
            logger.debug("%s cannot be captured", name, exc_info=True)
            self._notices.inform(f"capture {name}", f"{name} is not captured")
            return {"absent": f"It cannot be captured: {type(error).__name__}."}

    def _store(self, prefix: str, facts: Mapping[str, Value]) -> None:
        """Queue facts without secrets; all captured facts pass through here."""
        for name, value in facts.items():
            if not self._recorder.is_awake:
                return
            path = f"{self._namespace}/{prefix}/{name}"
            self._recorder.put(SetValue(path, self._presentable(value)))

    def _presentable(self, value: Value) -> Value:
        if isinstance(value, str):
            return redacted_beginning(value, self._redact)
        if isinstance(value, frozenset):
            return frozenset(
                redacted_beginning(text, self._redact, LONGEST_SET_STRING)
                for text in value
            )
        return value

    def _store_line(self, stream: str, line: str, moment: int) -> None:
        if self._recorder.is_awake:
            with contextlib.suppress(AgentError):
                self._recorder.append_text(
                    f"{self._namespace}/{stream}", line, moment=moment
                )


def _tensorboard_files(
    settings: Settings, recorder: Recorder, notices: Notices
) -> TensorBoardFiles | None:
    if settings.tensorboard is None:
        return None
    with importing():
        from seamark.capture.tensorboard import TensorBoardFiles  # noqa: PLC0415
    process = settings.watched or os.getpid()
    return TensorBoardFiles(settings.tensorboard, process, recorder, notices)


class _Redaction:
    """A redactor that is created on first use, in the thread that uses it."""

    def __init__(self) -> None:
        self._redact: Callable[[str], str] | None = None
        self._made_at = 0.0

    def __call__(self, text: str) -> str:
        if self._redact is None or time.monotonic() > self._made_at + _RENEW_SECONDS:
            with importing():
                from seamark.redaction import make_redactor  # noqa: PLC0415
            # Recreated periodically: scripts read secrets into their environment.
            self._redact, self._made_at = make_redactor(), time.monotonic()
        return self._redact(text)


_RENEW_SECONDS = 10.0
