"""Captures standard output and error of this process as two series of text."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from seamark.capture.rate_limit import Allowance
from seamark.capture.screen import REDRAW_SECONDS, Line, Screen
from seamark.capture.tail import Tail, tail_of
from seamark.capture.tee import Pending, Taken, Tee, attach, tee_of
from seamark.capture.texts import REDACTED, storable
from seamark.lifecycle.background import Background

if TYPE_CHECKING:
    from seamark.capture.relay import Relay
    from seamark.capture.relayed_output import RelayedOutput

INTERVAL_SECONDS = 0.25
# While nothing is written. New output is still stored within a second, although a line
# is stored only at its second inspection.
_QUIET_SECONDS = 0.4
# After this, all output is stored; a line that is overwritten repeatedly is stored once
# per interval.
_SETTLED_SECONDS = REDRAW_SECONDS + 5.0
# New output wakes the thread before.
_ASLEEP_SECONDS = 60.0
# While this thread forwards a program's output because its relay was killed.
_CARRYING_SECONDS = 0.02
STREAMS = ("stdout", "stderr")
_KEY_BEGIN, _KEY_END = "-----BEGIN ", "-----END "
_LONGEST_KEY = 100  # lines

# Receives a stream's name, a line, and its time in microseconds since 1970.
Sink = Callable[[str, str, int], None]


class Console:
    """Both streams, and the thread that splits their output into lines."""

    def __init__(self, sink: Sink, redact: Callable[[str], str]) -> None:
        self._readers = {name: _Reader(name, sink, redact) for name in STREAMS}
        self._tees: dict[str, Tee] = {}
        self._shell: Any = None  # IPython's
        self._tails: list[Tail | RelayedOutput] = []
        self._heard: list[RelayedOutput] = []
        self._written_at = time.monotonic()
        self.background = Background("seamark-console", self.turn)

    def attach(self) -> list[str]:
        """Start capturing output; return the streams for which that fails."""
        failed = self._attach()
        # IPython restores the streams' methods at the end of each cell.
        shell = find_shell()
        if shell is not None:
            self._shell = shell
            shell.events.register("pre_run_cell", self._begin_cell)
        return failed

    def follow(self, positions: Mapping[str, int]) -> None:
        """Start reading a program's output files from these positions."""
        for name, position in positions.items():
            tail = tail_of(name, position, self._readers[name].pending)
            if tail is not None:
                self._tails.append(tail)

    def hear(self, relays: Mapping[str, Relay]) -> None:
        """Start reading a program's output from the copies of its relays."""
        from seamark.capture.relayed_output import RelayedOutput  # noqa: PLC0415 - only `seamark run` does

        self._heard = [
            RelayedOutput(relay, self._readers[name].pending)
            for name, relay in relays.items()
        ]
        self._tails += self._heard

    def detach(self) -> None:
        """Stop capturing, and restore the streams."""
        if self._shell is not None:
            with contextlib.suppress(ValueError):
                self._shell.events.unregister("pre_run_cell", self._begin_cell)
        for name, tee in self._tees.items():
            tee.remove(self._readers[name].pending)
        self._tees.clear()

    def forget(self) -> None:
        """Release the streams in a forked child, which has no thread to read them."""
        for tee in self._tees.values():
            tee.drop_takers()
        self._tees.clear()

    def turn(self) -> float:
        """Store new lines; return the seconds until the next turn."""
        is_quiet = not self._read(is_end=False)
        now = time.monotonic()
        if not is_quiet:
            self._written_at = now
        if any(heard.is_carrying for heard in self._heard):
            return _CARRYING_SECONDS
        if not is_quiet:
            return INTERVAL_SECONDS
        # A program's output elsewhere does not wake the thread.
        if self._tails or now < self._written_at + _SETTLED_SECONDS:
            return _QUIET_SECONDS
        return self._sleep()

    def finish(self, seconds: float) -> None:
        """Store the rest, if the thread ends in time."""
        self.detach()
        if self.background.stop(seconds):
            self._read(is_end=True)
            for tail in self._tails:
                tail.close()

    def _sleep(self) -> float:
        """Let new output wake the thread; return the seconds to sleep."""
        waiting = [reader.pending for reader in self._readers.values()]
        for pending in waiting:
            pending.call = self.background.wake
        # Output may have been written just before.
        is_still_quiet = all(pending.is_empty for pending in waiting)
        return _ASLEEP_SECONDS if is_still_quiet else INTERVAL_SECONDS

    def _attach(self) -> list[str]:
        failed = []
        seen: set[int] = set()
        for name, reader in self._readers.items():
            stream = getattr(sys, name, None)
            # Both may be the same object, or None.
            if stream is None or id(stream) in seen:
                continue
            seen.add(id(stream))
            known = self._tees.get(name)
            if known is not None and known is tee_of(stream):
                continue
            if known is not None:
                known.remove(reader.pending)
            tee = attach(stream, reader.pending)
            if tee is None:
                failed.append(name)
            else:
                self._tees[name] = tee
        return failed

    def _begin_cell(self, *_: object) -> None:
        self._attach()

    def _read(self, *, is_end: bool) -> bool:
        """Store new lines; return whether anything was written."""
        now = time.monotonic()
        for tail in self._tails:
            tail.read()
        found = [reader.read(now, is_end=is_end) for reader in self._readers.values()]
        return any(found)


# Any: any version of IPython.
def find_shell() -> Any:
    """Return the IPython shell of this process; None if there is none."""
    # A process in a shell has imported it.
    ipython = sys.modules.get("IPython")
    shell = getattr(ipython, "get_ipython", lambda: None)()
    return shell if hasattr(shell, "events") else None


class _Reader:
    """Turns the output of one stream into stored lines."""

    def __init__(self, name: str, sink: Sink, redact: Callable[[str], str]) -> None:
        self.pending = Pending()
        self._name = name
        self._sink = sink
        self._redact = redact
        self._screen = Screen()
        self._allowance = Allowance(time.monotonic())
        self._key_lines = 0  # remaining lines of a private key, at most

    def read(self, now: float, *, is_end: bool) -> bool:
        """Store completed lines; return whether anything was written."""
        taken = self.pending.take()
        lines = [*self._lines(taken, now, is_end=is_end)]
        first, missing, last = self._allowance.kept(lines, now)
        self.pending.expect(is_flood=bool(taken.dropped or missing))
        for line in first:
            self._store(line)
        if missing:
            text = f"… {missing:,} lines are not stored: too much output"
            self._store(Line(lines[len(first)].time, text))
        for line in last:
            self._store(line)
        return bool(taken.head or taken.dropped)

    def _lines(self, taken: Taken, now: float, *, is_end: bool) -> Iterator[Line]:
        for moment, text in taken.head:
            self._screen.write(text, moment)
        if taken.dropped:
            # The end of the current line is missing.
            yield from self._screen.take(now, is_end=True)
            moment = taken.tail[0][0] if taken.tail else time.time_ns()
            notice = f"… {taken.dropped:,} characters are not stored: too much output"
            yield Line(moment, notice)
        for moment, text in taken.tail:
            self._screen.write(text, moment)
        yield from self._screen.take(now, is_end=is_end)

    def _store(self, line: Line) -> None:
        self._sink(
            self._name, storable(self._without_secrets(line.text)), line.time // 1_000
        )

    def _without_secrets(self, text: str) -> str:
        """Redact a line; a private key has many, of which only the first is
        recognizable.
        """
        if self._key_lines:
            self._key_lines = 0 if _KEY_END in text else self._key_lines - 1
            return REDACTED
        if _KEY_BEGIN in text and "PRIVATE KEY" in text and _KEY_END not in text:
            self._key_lines = _LONGEST_KEY
        return self._redact(text)
