"""Sees what is written to sys.stdout and sys.stderr, without taking anyone's place.

The stream stays the object it was; only its method `write` is preceded by ours, which
first does what it would have done and then puts the text into a queue without locks.
So isatty, fileno, encoding, buffer and whoever holds the stream see no difference, and
a signal handler or finalizer that prints may interrupt a print at any point.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from threading import get_ident
from time import time_ns
from typing import Any, NamedTuple

from seamark.lifecycle.background import own_threads

# Of one stream between two looks at it: a flood beyond it is counted, not kept. Much at
# once, as when a model is printed; little while a flood lasts, whose reading costs, too.
CAPACITY = 1024 * 1024  # characters
_FLOODED_CAPACITY = 32 * 1024  # characters
_MAX_PIECES = 40_000
# The newest of a flood, because what is said last matters most.
_TAIL_PIECES = 64
_TAIL_CHARACTERS = 2_048


# What one call wrote, and when: nanoseconds since 1970. No class, for its cost.
Piece = tuple[int, str]


class Taken(NamedTuple):
    """What was written since the last look: the first, how much is missing, the last."""

    head: list[Piece]
    dropped: int  # characters
    tail: list[Piece]


class Pending:
    """What was written and is not yet looked at."""

    def __init__(self) -> None:
        # Called once by what is written next, if somebody sleeps until then.
        self.call: Callable[[], None] | None = None
        self._capacity = CAPACITY
        self._head: deque[Piece] = deque()
        # About; threads may overwrite each other's sums, and each look corrects it.
        self._size = 0
        self._dropped = 0
        self._tail: deque[Piece] = deque(maxlen=_TAIL_PIECES)

    @property
    def is_empty(self) -> bool:
        return not (self._head or self._dropped)

    def put(self, text: str) -> None:
        """Keep the text, or else count it. Never waits, never raises."""
        self._keep(text)
        call = self.call
        if call is not None:
            self.call = None
            call()

    def _keep(self, text: str) -> None:
        size = self._size + len(text)
        # Behind a gap nothing is kept as if it stood before it.
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
        """Count so many characters as dropped."""
        self._dropped += size

    def take(self) -> Taken:
        """Remove and return what is there."""
        head = [self._head.popleft() for _ in range(len(self._head))]
        dropped, self._dropped = self._dropped, 0
        tail = [self._tail.popleft() for _ in range(len(self._tail))]
        self._size = 0
        missing = dropped - sum(len(text) for _, text in tail)
        return Taken(head, max(0, missing), tail)

    def expect(self, *, is_flood: bool) -> None:
        """Keep less at the next look, or more again."""
        if is_flood:
            self._capacity = max(_FLOODED_CAPACITY, self._capacity // 4)
        else:
            self._capacity = min(CAPACITY, self._capacity * 2)


class Tee:
    """What stands before the `write` of one stream."""

    __slots__ = ("_own", "_plain", "_stream", "_takers")

    # Any: whatever somebody made sys.stdout.
    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._plain: Callable[..., Any] = stream.write
        # Somebody else's, who came before us.
        self._own: Callable[..., Any] | None = vars(stream).get("write")
        self._takers: tuple[Pending, ...] = ()

    def write(self, *args: Any, **named: Any) -> Any:
        """Write as the stream would, and remember what."""
        written = self._plain(*args, **named)
        # What our threads say about sending must not be sent, and said again.
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
        """Forget a taker; with the last one, leave the stream as it was."""
        self._takers = tuple(p for p in self._takers if p is not pending)
        if self._takers or tee_of(self._stream) is not self:
            return  # somebody came after us, and goes on calling us
        self._put_back()

    def take_place(self) -> None:
        """Stand before the stream's `write`; TypeError where that cannot be."""
        # Not by assignment: a wrapper may hand that on to the stream it writes to, and
        # each would then call the other without end.
        vars(self._stream)["write"] = self.write
        if getattr(self._stream.write, "__self__", None) is not self:
            # The namespace is another's, or is not looked at.
            self._put_back()
            raise TypeError

    def _put_back(self) -> None:
        if self._own is not None:
            vars(self._stream)["write"] = self._own
        else:
            del vars(self._stream)["write"]

    def forget_takers(self) -> None:
        """In a forked child nobody takes anything."""
        self._takers = ()


def attach(stream: object, pending: Pending) -> Tee | None:
    """Have what is written to a stream put there, too; None where it cannot be seen."""
    tee = tee_of(stream)
    if tee is None:
        try:
            tee = Tee(stream)
            tee.take_place()
        except (AttributeError, TypeError):
            # Of a kind that accepts no attributes, or no stream at all.
            return None
    tee.add(pending)
    return tee


def tee_of(stream: object) -> Tee | None:
    """Return what stands before the stream's `write`, if it is ours."""
    write = getattr(stream, "__dict__", {}).get("write")
    owner = getattr(write, "__self__", None)
    return owner if isinstance(owner, Tee) else None
