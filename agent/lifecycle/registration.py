"""Re-registration: a spool continues as a new one when its frame numbers conflict.

If a machine is restored from a backup or copied while it runs, new frames reuse numbers
that the server already has. Missing frames are sent as those of a new spool; the files
and their own numbers stay unchanged.
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
# After the frame that opens the new spool.
FIRST_NUMBER = 2
# By the server's clock, the process restarts after the old spool's last activity.
_CLOCKS_DIFFER_BY = 5_000_000  # microseconds


@dataclass(frozen=True)
class Renewal:
    """The queue id for the frames of a folder, and the first frame sent under it."""

    id: str
    first: int  # the frame that is sent as number 2
    stored: tuple[int, ...]  # later frames that the server already has
    origin: Origin

    @property
    def shift(self) -> int:
        """The difference between frame numbers in the files and in the new spool."""
        return self.first - FIRST_NUMBER


def renewed(
    before: Renewal | None, origin: Origin, first: int, stored: Collection[int]
) -> Renewal:
    """Return a new spool of the same run for the frames from `first` on."""
    # Frames skipped earlier are still stored under other numbers.
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
    """Write it to the spool's folder; return whether it can be read back."""
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
    """Return the stored re-registration; None if there is no valid one.

    Raises OSError if it cannot be read now.
    """
    try:
        stored = json.loads(read_if_there(folder / RENEWAL_FILE))
        renewal = Renewal(
            id=str(uuid.UUID(str(stored["id"]))),
            first=int(stored["first"]),
            stored=tuple(int(number) for number in stored["stored"]),
            origin=Origin(**stored["origin"]),
        )
        # JSON may hold values that a message cannot.
        open_spool(renewal.origin)
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
        return None
    return renewal if renewal.first >= FIRST_NUMBER else None
