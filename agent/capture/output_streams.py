"""Determines the destinations of this process's streams: files, terminals, pipes."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from typing import NamedTuple

DESCRIPTORS = {"stdout": 1, "stderr": 2}


class Outlets(NamedTuple):
    """Both streams by destination; if they share one, the first represents both.

    A stream to another destination, such as /dev/null, is omitted.
    """

    # The current file size by stream.
    files: Mapping[str, int] = {}
    # The descriptors by stream that lead to one terminal, pipe or socket.
    carried: Mapping[str, tuple[int, ...]] = {}


NOWHERE = Outlets()


def find_outlets() -> Outlets:
    """Return the destinations of both streams; empty if one is closed."""
    files: dict[str, int] = {}
    carried: dict[str, tuple[int, ...]] = {}
    first: os.stat_result | None = None
    for stream, descriptor in DESCRIPTORS.items():
        try:
            status = os.fstat(descriptor)
        except OSError:
            return NOWHERE
        if first is not None and os.path.samestat(status, first):
            if carried:
                # Kept together, because separate relays would lose the order of the
                # output.
                carried["stdout"] = (1, descriptor)
        elif stat.S_ISREG(status.st_mode):
            files[stream] = status.st_size
        elif _can_be_carried(descriptor, status.st_mode):
            carried[stream] = (descriptor,)
        first = first or status
    return Outlets(files, carried)


def _can_be_carried(descriptor: int, mode: int) -> bool:
    if stat.S_ISSOCK(mode):
        return _is_stream(descriptor)
    return stat.S_ISFIFO(mode) or os.isatty(descriptor)


def _is_stream(descriptor: int) -> bool:
    """Return whether it is a stream socket, which ignores message boundaries."""
    import socket  # noqa: PLC0415 - few streams lead to one

    copy = os.dup(descriptor)
    try:
        one = socket.socket(fileno=copy)
    except OSError:
        os.close(copy)
        return False
    with one:
        return one.type == socket.SOCK_STREAM
