"""A spool that goes on as another one, because its numbers were used twice.

Where a machine is set back, or copied while it runs, frames get numbers that the
tracker has others of. What it lacks is sent as the frames of a new spool; the files
stay as they are, and with them the numbers they are read and acknowledged by.
"""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Collection
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from seamark.messages import Origin, open_spool
from seamark.queue.own_files import read_if_there, write_file

RENEWAL_FILE = "renewal.json"
# Behind the frame that opens the new spool.
FIRST_NUMBER = 2
# By the tracker's clock, the process starts anew after the old spool was last heard of.
_CLOCKS_DIFFER_BY = 5_000_000  # microseconds


@dataclass(frozen=True)
class Renewal:
    """As which spool the frames of a folder are sent, and from which on."""

    id: str
    first: int  # the frame that is sent as number 2
    stored: tuple[int, ...]  # frames behind it that the tracker has already
    origin: Origin

    @property
    def shift(self) -> int:
        """How much larger numbers are in the files than in the new spool."""
        return self.first - FIRST_NUMBER


def renewed(
    before: Renewal | None, origin: Origin, first: int, stored: Collection[int]
) -> Renewal:
    """Return a new spool of the same run for the frames from `first` on."""
    # What had to be left out before is still stored elsewhere.
    left_out = {*stored, *(before.stored if before else ())}
    now = time.time_ns() // 1000
    return Renewal(
        id=str(uuid.uuid4()),
        first=first,
        stored=tuple(sorted(number for number in left_out if number >= first)),
        origin=replace(
            origin,
            time=now + _CLOCKS_DIFFER_BY,
            began_at=origin.began_at or origin.time,
        ),
    )


def store_renewal(folder: Path, renewal: Renewal) -> bool:
    """Write it into the spool's folder; return whether it can be read again."""
    aside = folder / f".{RENEWAL_FILE}"
    try:
        write_file(aside, json.dumps(_stored(renewal)).encode())
        aside.replace(folder / RENEWAL_FILE)
        return read_renewal(folder) == renewal
    except OSError:
        return False


def _stored(renewal: Renewal) -> dict[str, Any]:
    return {**asdict(renewal), "origin": renewal.origin.stored()}


def read_renewal(folder: Path) -> Renewal | None:
    """Return what was stored; None where there is nothing that can be used.

    Raises OSError where that cannot be known now.
    """
    try:
        stored = json.loads(read_if_there(folder / RENEWAL_FILE))
        renewal = Renewal(
            id=str(uuid.UUID(str(stored["id"]))),
            first=int(stored["first"]),
            stored=tuple(int(number) for number in stored["stored"]),
            origin=Origin(**stored["origin"]),
        )
        # JSON holds what no message can.
        open_spool(renewal.origin)
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
        return None
    return renewal if renewal.first >= FIRST_NUMBER else None
