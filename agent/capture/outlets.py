"""Where the streams of this process lead: to files, to terminals, or elsewhere."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from typing import NamedTuple

DESCRIPTORS = {"stdout": 1, "stderr": 2}


class Outlets(NamedTuple):
    """Each stream is in one of both, beside a second one that leads to the same place."""

    # Where the file ends.
    files: Mapping[str, int] = {}
    # The descriptors that lead to the terminal.
    terminals: Mapping[str, tuple[int, ...]] = {}


NOWHERE = Outlets()


def find_outlets() -> Outlets:
    """Return where both streams lead; nothing, where one leads to another program."""
    files: dict[str, int] = {}
    terminals: dict[str, tuple[int, ...]] = {}
    first: os.stat_result | None = None
    for stream, descriptor in DESCRIPTORS.items():
        try:
            status = os.fstat(descriptor)
        except OSError:
            return NOWHERE
        if first is not None and os.path.samestat(status, first):
            if terminals:
                # Apart, the order in which both were written would be lost.
                terminals["stdout"] = (1, descriptor)
        elif stat.S_ISREG(status.st_mode):
            files[stream] = status.st_size
        elif os.isatty(descriptor):
            terminals[stream] = (descriptor,)
        else:
            return NOWHERE
        first = first or status
    return Outlets(files, terminals)
