"""Captures a program's output for its run: reads files, and relays other streams."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import FrameType

from seamark.capture.output_streams import DESCRIPTORS, NOWHERE, Outlets, find_outlets
from seamark.capture.pseudo_terminals import front_of
from seamark.capture.relay import Relay
from seamark.settings import Mode, Settings

# How long the end waits for output of the program's remaining children.
_LEFT_SECONDS = 1.0


class ProgramOutput:
    """The destinations of a program's streams, and the relays in front of them."""

    def __init__(self, outlets: Outlets, relays: Mapping[str, Relay]) -> None:
        self.relays = relays
        self.files = outlets.files
        self._carried = outlets.carried

    @property
    def is_kept(self) -> bool:
        return bool(self.files or self.relays)

    @property
    def streams(self) -> dict[str, int]:
        """The descriptors that replace streams of this process when the program starts."""
        names = {descriptor: stream for stream, descriptor in DESCRIPTORS.items()}
        return {
            names[descriptor]: relay.front.programs
            for stream, relay in self.relays.items()
            for descriptor in self._carried[stream]
        }

    def begin(self) -> None:
        """Close the program's ends after the program has started."""
        for relay in self.relays.values():
            relay.begin()

    def wait(self, is_preempted: Callable[[], bool]) -> None:
        """Wait until all output of the program is forwarded."""
        for relay in self.relays.values():
            relay.wait(_LEFT_SECONDS, is_preempted)


@contextmanager
def program_output(settings: Settings) -> Iterator[ProgramOutput]:
    """Prepare the capture of a program's output, if it is enabled and possible."""
    is_captured = "console" in settings.capture and settings.mode is not Mode.DISABLED
    outlets = NOWHERE
    try:
        if is_captured:
            outlets = find_outlets()
        # All relays start before the first program can write.
        relays = {
            stream: Relay(front_of(descriptors[0]))
            for stream, descriptors in outlets.carried.items()
        }
    except OSError:
        # No pseudo terminals, or too many open files; opened descriptors are closed
        # with this process.
        outlets, relays = NOWHERE, {}
    if not relays:
        yield ProgramOutput(outlets, relays)
        return
    with _handled_signals(list(relays.values())):
        yield ProgramOutput(outlets, relays)


@contextmanager
def _handled_signals(relays: list[Relay]) -> Iterator[None]:
    """Forward changes of terminal sizes, and handle ends of relays."""

    def match(_: int, __: FrameType | None) -> None:
        changed = [relay.front.match_size() for relay in relays]
        if any(changed):
            # Programs that read the size before the update get a signal too, including
            # grandchildren.
            os.killpg(0, signal.SIGWINCH)

    # In the signal handler, because a thread could block on a disk while the program
    # cannot end.
    def heed(_: int, __: FrameType | None) -> None:
        for relay in relays:
            relay.heed()

    # A background job learns of a new size when it is continued.
    handlers = {signal.SIGWINCH: match, signal.SIGCONT: match, signal.SIGCHLD: heed}
    before = {n: signal.signal(n, handler) for n, handler in handlers.items()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
