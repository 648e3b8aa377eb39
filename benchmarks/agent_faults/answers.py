"""CF-07: each answer of a server has the effect that docs/protocol.md specifies."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from email.utils import formatdate
from pathlib import Path
from time import time

from benchmarks.agent_faults.case import Bound, Found, Size, none_of
from benchmarks.agent_faults.spools import ORIGIN
from seamark import messages
from seamark.queue.spool import create_spool
from seamark.queue.spool_reader import SpoolReader
from seamark.servers import Server
from seamark.upload.delivery import Delivery
from seamark.upload.transport import HttpTransport
from seamark.user_warnings import Notices, logger
from tests.agent.tracker_double import TOKEN, Scripted, TrackerDouble

# The first opens the run, each of the others has one point.
FRAMES = 8
# More than any of these answers needs.
MAX_TURNS = 40
# Seconds until the next try: at once, soon, not before a person did something.
AT_ONCE, SOON, HELD = (0.0, 0.0), (0.01, 0.5), (60.0, 60.0)
# From a tracker; a 400 of another program does not reject the records.
MALFORMED = Scripted(400, b'{"error": {"code": "malformed_batch"}}')


@dataclass(frozen=True, slots=True)
class Row:
    """Answers to a spool before the normal ones, and the expected effect."""

    words: str
    answers: Sequence[Scripted]
    # How long the agent waits after the first, from and to.
    wait: tuple[float, float]
    # Points that are moved to the file of rejected data.
    set_aside: int = 0
    is_halved: bool = False

    @property
    def is_held(self) -> bool:
        """Return whether sending stops until the settings change, with a warning."""
        return self.wait == HELD


def rows(elsewhere: str) -> list[Row]:
    """Return possible answers; `elsewhere` is the address of another server."""
    past = formatdate(time() - 3600, usegmt=True)
    waits = {"1": (1.0, 1.0), "3600": (3600.0, 3600.0)}
    # An invalid or past time means a short wait.
    waits |= {"0": SOON, past: SOON, "junk": SOON}
    return [
        # Three times the same answer gives one warning.
        *(Row(f"{s}", 3 * [Scripted(s)], HELD) for s in (401, 403, 404, 415, 422)),
        *(Row(f"{s}", [Scripted(s)], SOON) for s in (500, 501, 502, 503, 504)),
        *(
            Row(
                f"{status} with Retry-After: {header}",
                [Scripted(status, headers={"Retry-After": header})],
                wait,
            )
            for status in (429, 503)
            for header, wait in waits.items()
        ),
        *(
            Row(
                f"{status} to another server",
                [
                    Scripted(
                        status, headers={"Location": f"{elsewhere}/api/v1/ingest/x"}
                    )
                ],
                HELD,
            )
            for status in (301, 302, 307, 308)
        ),
        Row("200 with HTML", [Scripted(200, b"<html>sign in</html>")], SOON),
        Row("409", [Scripted(409, b'{"error": {"expected": 1}}')], SOON),
        Row("413", [Scripted(413)], AT_ONCE, is_halved=True),
        Row("400 with HTML", [Scripted(400, b"<html>use TLS</html>")], SOON),
        Row(
            "400 to the batch and to frame 3 alone",
            [
                MALFORMED,
                *(Scripted(200, b'{"stored": %d}' % n, stores=True) for n in (1, 2)),
                MALFORMED,
            ],
            AT_ONCE,
            set_aside=1,
        ),
    ]


def answers(size: Size) -> list[Found]:
    """Give one spool after the other each answer, then true ones."""
    other = TrackerDouble()
    table = size.amount * rows(other.url)
    wrong, lost, doubled = [], 0, 0
    for number, row in enumerate(table):
        is_right, missing, twice = _given(row, size.folder / f"answers{number}")
        wrong += [] if is_right else [row.words]
        lost, doubled = lost + missing, doubled + twice
    reached = len(other.requests)
    other.stop()
    share = f"{len(table) - len(wrong)} of {len(table)} as the protocol says"
    return [
        Found(
            f"{len(table)} answers, each to a spool of {FRAMES} frames; then true ones",
            [share, *(f"not so: {words}" for words in wrong)],
            [
                Bound("outcomes as the protocol says = 100 %", not wrong),
                none_of("tokens sent elsewhere", reached),
                none_of("lost", lost),
                none_of("doubled", doubled),
            ],
        )
    ]


def _given(row: Row, folder: Path) -> tuple[bool, int, int]:
    """Return whether all came as it must, and how many points are lost and doubled."""
    tracker = TrackerDouble()
    tracker.script.extend(row.answers)
    transport = HttpTransport(Server(tracker.url, TOKEN))
    with _warnings() as said:
        delivery = Delivery(_spool(folder), transport, Notices())
        first = outcome = delivery.send_some()
        for _ in range(MAX_TURNS):
            if outcome.is_done:
                break
            outcome = delivery.send_some()
    low, high = row.wait
    sizes = [len(body) for _, _, body in tracker.requests]
    is_right = (
        low <= first.wait_seconds <= high
        and first.is_deferred is row.is_held
        and len(said) == (1 if row.is_held or row.set_aside else len(said))
        and (not row.is_halved or sizes[1] < sizes[0])
        and sum(m["points"] for m in tracker.of_kind("drop")) == row.set_aside
        and bool(list(folder.glob("set-aside/*"))) is bool(row.set_aside)
    )
    stored = tracker.values("a")
    transport.close()
    tracker.stop()
    lost = FRAMES - 1 - len(set(stored)) - row.set_aside
    return is_right, lost, len(stored) - len(set(stored))


def _spool(folder: Path) -> SpoolReader:
    opened = create_spool(folder, ORIGIN, url=None)
    for number in range(2, FRAMES + 1):
        column = [float(number)]
        opened.write(messages.payload([messages.points(["a"], column, [0], [column])]))
    opened.close()
    return SpoolReader(opened.folder)


@contextmanager
def _warnings() -> Iterator[list[str]]:
    """Collect warnings instead of printing them."""
    said: list[str] = []

    class Heard(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            said.append(record.getMessage())

    heard, propagates = Heard(logging.WARNING), logger.propagate
    logger.addHandler(heard)
    logger.propagate = False
    try:
        yield said
    finally:
        logger.removeHandler(heard)
        logger.propagate = propagates
