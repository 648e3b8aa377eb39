"""Captures writes to sys.stdout and sys.stderr without replacing the streams.

Only the stream's method `write` is wrapped: it calls the original and then puts the
text into a lock-free queue. So isatty, fileno, encoding, buffer and references to the
stream are unaffected, and a signal handler or finalizer may print during a print.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from threading import get_ident
from time import time_ns
from typing import Any, NamedTuple

from seamark.lifecycle.background import own_threads

# Limits per stream between two reads: output above them is counted, not kept. Large for
# a burst such as a printed model; small during a flood, because reading costs time too.
CAPACITY = 1024 * 1024  # characters
_FLOODED_CAPACITY = 32 * 1024  # characters
_MAX_PIECES = 40_000
# The newest output of a flood is kept.
_TAIL_PIECES = 64
_TAIL_CHARACTERS = 2_048


# The text of one call and its time in nanoseconds since 1970; a tuple because it is
# cheap.
Piece = tuple[int, str]


class Taken(NamedTuple):
    """Output since the last read: the first part, the number of dropped characters, the
    end.
    """

    head: list[Piece]
    dropped: int  # characters
    tail: list[Piece]


class Pending:
    """Output that is not yet read."""

    def __init__(self) -> None:
        # Called once by the next write, to wake a sleeping reader.
        self.call: Callable[[], None] | None = None
        self._capacity = CAPACITY
        self._head: deque[Piece] = deque()
        # Approximate: threads may overwrite each other's sums; reset by each read.
        self._size = 0
        self._dropped = 0
        self._tail: deque[Piece] = deque(maxlen=_TAIL_PIECES)

    @property
    def is_empty(self) -> bool:
        return not (self._head or self._dropped)

    def put(self, text: str) -> None:
        """Queue the text, or count it as dropped. Never blocks or raises."""
        self._keep(text)
        call = self.call
        if call is not None:
            self.call = None
            call()

    def _keep(self, text: str) -> None:
        size = self._size + len(text)
        # Text after a gap must not be queued before it.
        is_room = size <= self._capacity and len(self._head) < _MAX_PIECES
        if is_room and not self._dropped:
            self._size = size
            self._head.append((time_ns(), text))
            return
        self._dropped += len(text)
        if len(text) > _TAIL_CHARACTERS:
            text = text[-_TAIL_CHARACTERS:]
        self._tail.append((time_ns(), text))

    def skip(self, size: int) -> None:
        """Count `size` characters as dropped."""
        self._dropped += size

    def take(self) -> Taken:
        """Remove and return the queued output."""
        head = [self._head.popleft() for _ in range(len(self._head))]
        dropped, self._dropped = self._dropped, 0
        tail = [self._tail.popleft() for _ in range(len(self._tail))]
        self._size = 0
        missing = dropped - sum(len(text) for _, text in tail)
        return Taken(head, max(0, missing), tail)

    def expect(self, *, is_flood: bool) -> None:
        """Reduce the capacity during a flood, or increase it again."""
        if is_flood:
            self._capacity = max(_FLOODED_CAPACITY, self._capacity // 4)
        else:
            self._capacity = min(CAPACITY, self._capacity * 2)


class Tee:
    """The wrapper around one stream's `write`."""

    __slots__ = ("_own", "_plain", "_stream", "_takers")

    # Any: any object assigned to sys.stdout.
    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._plain: Callable[..., Any] = stream.write
        # A wrapper installed earlier by other code.
        self._own: Callable[..., Any] | None = vars(stream).get("write")
        self._takers: tuple[Pending, ...] = ()

    def write(self, *args: Any, **named: Any) -> Any:
        """Write to the stream, and queue the text."""
        written = self._plain(*args, **named)
        # Log messages of the agent's own threads about sending must not be sent
        # themselves.
        if self._takers and get_ident() not in own_threads:
            text = args[0] if args else None
            if type(text) is not str:
                if not isinstance(text, str):
                    return written
                text = str.__str__(text)
            for pending in self._takers:
                pending.put(text)
        return written

    def add(self, pending: Pending) -> None:
        self._takers = (*self._takers, pending)

    def remove(self, pending: Pending) -> None:
        """Remove a queue; with the last one, restore the stream."""
        self._takers = tuple(p for p in self._takers if p is not pending)
        if self._takers or tee_of(self._stream) is not self:
            return  # other code has wrapped this wrapper and still calls it
        self._put_back()

    def take_place(self) -> None:
        """Wrap the stream's `write`; TypeError if that is not possible."""
        # Not by assignment: a wrapper object may forward it to its inner stream, and
        # both would call each other without end.
        vars(self._stream)["write"] = self.write
        if getattr(self._stream.write, "__self__", None) is not self:
            # The namespace is shared or not used for lookups.
            self._put_back()
            raise TypeError

    def _put_back(self) -> None:
        if self._own is not None:
            vars(self._stream)["write"] = self._own
        else:
            del vars(self._stream)["write"]

    def drop_takers(self) -> None:
        """Remove all queues in a forked child."""
        self._takers = ()


def attach(stream: object, pending: Pending) -> Tee | None:
    """Capture a stream's output in a queue; return None if that is not possible."""
    tee = tee_of(stream)
    if tee is None:
        try:
            tee = Tee(stream)
            tee.take_place()
        except (AttributeError, TypeError):
            # The object accepts no attributes, or is not a stream.
            return None
    tee.add(pending)
    return tee


def tee_of(stream: object) -> Tee | None:
    """Return the wrapper around a stream's `write`, if it is a Tee."""
    write = getattr(stream, "__dict__", {}).get("write")
    owner = getattr(write, "__self__", None)
    return owner if isinstance(owner, Tee) else None
