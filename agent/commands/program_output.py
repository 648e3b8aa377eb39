"""What a program writes, kept for its run: behind files, in front of everything else."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import FrameType

from seamark.capture.fronts import front_of
from seamark.capture.outlets import DESCRIPTORS, NOWHERE, Outlets, find_outlets
from seamark.capture.relay import Relay
from seamark.settings import Mode, Settings

# How long the end waits for what the program leaves behind.
_LEFT_SECONDS = 1.0


class ProgramOutput:
    """Where a program's streams lead to, and what stands between it and there."""

    def __init__(self, outlets: Outlets, relays: Mapping[str, Relay]) -> None:
        self.relays = relays
        self.files = outlets.files
        self._carried = outlets.carried

    @property
    def is_kept(self) -> bool:
        return bool(self.files or self.relays)

    @property
    def streams(self) -> dict[str, int]:
        """What the program is started with in place of streams of this process."""
        names = {descriptor: stream for stream, descriptor in DESCRIPTORS.items()}
        return {
            names[descriptor]: relay.front.programs
            for stream, relay in self.relays.items()
            for descriptor in self._carried[stream]
        }

    def begin(self) -> None:
        """Leave its ends to the program, which has been started."""
        for relay in self.relays.values():
            relay.begin()

    def wait(self, is_told_to_end: Callable[[], bool]) -> None:
        """Wait until everything that the program wrote is where it led to."""
        for relay in self.relays.values():
            relay.wait(_LEFT_SECONDS, is_told_to_end)


@contextmanager
def program_output(settings: Settings) -> Iterator[ProgramOutput]:
    """Find what can be kept of a program's output; nothing, where that is not wanted."""
    is_wanted = "console" in settings.capture and settings.mode is not Mode.DISABLED
    outlets = NOWHERE
    try:
        if is_wanted:
            outlets = find_outlets()
        # All of them before the first program could write to one.
        relays = {
            stream: Relay(front_of(descriptors[0]))
            for stream, descriptors in outlets.carried.items()
        }
    except OSError:
        # As without pseudo terminals, or with too many open files; what was opened is
        # closed with this process.
        outlets, relays = NOWHERE, {}
    if not relays:
        yield ProgramOutput(outlets, relays)
        return
    with _signals_heeded(list(relays.values())):
        yield ProgramOutput(outlets, relays)


@contextmanager
def _signals_heeded(relays: list[Relay]) -> Iterator[None]:
    """Follow sizes of terminals whenever they change, and ends of relays."""

    def match(_: int, __: FrameType | None) -> None:
        news = [relay.front.match_size() for relay in relays]
        if any(news):
            # Whoever looked at once has seen the size before; also grandchildren.
            os.killpg(0, signal.SIGWINCH)

    # Not left to a thread, which might wait for a disk: the program could not end.
    def heed(_: int, __: FrameType | None) -> None:
        for relay in relays:
            relay.heed()

    # A job in the background hears of a size when it is continued.
    handlers = {signal.SIGWINCH: match, signal.SIGCONT: match, signal.SIGCHLD: heed}
    before = {n: signal.signal(n, handler) for n, handler in handlers.items()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
