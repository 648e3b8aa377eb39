"""What a program writes, kept for its run: behind files, and in front of terminals."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import FrameType

from agent.capture.outlets import DESCRIPTORS, NOWHERE, Outlets, find_outlets
from agent.capture.relay import Relay
from agent.settings import Mode, Settings

# How long the end waits for a terminal that is slow to show what was written last.
_SHOWN_SECONDS = 1.0


class ProgramOutput:
    """Where a program's streams lead to, and what stands between it and terminals."""

    def __init__(self, outlets: Outlets, relays: Mapping[str, Relay]) -> None:
        self.relays = relays
        self.files = outlets.files
        self._terminals = outlets.terminals

    @property
    def is_kept(self) -> bool:
        return bool(self.files or self.relays)

    @property
    def streams(self) -> dict[str, int]:
        """What the program is started with in place of streams of this process."""
        names = {descriptor: stream for stream, descriptor in DESCRIPTORS.items()}
        return {
            names[descriptor]: relay.programs
            for stream, relay in self.relays.items()
            for descriptor in self._terminals[stream]
        }

    def begin(self) -> None:
        """Leave the terminals to the program, which has been started."""
        for relay in self.relays.values():
            relay.begin()

    def wait(self) -> None:
        """Wait until everything is shown, if that is soon."""
        for relay in self.relays.values():
            relay.wait(_SHOWN_SECONDS)


@contextmanager
def program_output(settings: Settings) -> Iterator[ProgramOutput]:
    """Find what can be kept of a program's output; nothing, where that is not wanted."""
    is_wanted = "console" in settings.capture and settings.mode is not Mode.DISABLED
    outlets = find_outlets() if is_wanted else NOWHERE
    try:
        # All terminals before the first program could write to one.
        relays = {
            stream: Relay(descriptors[0])
            for stream, descriptors in outlets.terminals.items()
        }
    except OSError:
        # A machine without pseudo terminals; what one had is closed with this process.
        outlets, relays = NOWHERE, {}
    if not relays:
        yield ProgramOutput(outlets, relays)
        return
    with _sizes_matched(list(relays.values())):
        yield ProgramOutput(outlets, relays)


@contextmanager
def _sizes_matched(relays: list[Relay]) -> Iterator[None]:
    """Give the program's terminals the size of the true ones, whenever that changes."""

    def match(_: int, __: FrameType | None) -> None:
        news = [relay.match_size() for relay in relays]
        if any(news):
            # Whoever looked at once has seen the size before; also grandchildren.
            os.killpg(0, signal.SIGWINCH)

    # A job in the background hears of it when it is continued.
    before = {n: signal.signal(n, match) for n in (signal.SIGWINCH, signal.SIGCONT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
