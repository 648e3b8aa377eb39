"""Cases without a kill: batches that are repeated, reordered or contradictory."""

from __future__ import annotations

import hashlib
import json
import os
import random
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from http import HTTPStatus
from uuid import UUID, uuid4

import numpy as np

from benchmarks.kills import bodies
from benchmarks.kills.case import Result, Size
from benchmarks.kills.history import value_of
from benchmarks.kills.installation import Installation
from benchmarks.kills.stored import ask, run_ids, unused
from benchmarks.kills.wire import Connection, NoAnswer
from seamark.upload.responses import Reply

THREADS = 8
PATH = "loss"
POINTS = 50
FRAMES = 20
CONTENT_BYTES = 1_000_000
# Another client uploads the same content now, or has uploaded a part of it.
BEGUN_BY_OTHERS = (HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.CONFLICT)
LONGEST_DELAY_SECONDS = 0.02


def repeat(installation: Installation, times: int) -> Result:
    """Send a batch, an `open` message, several `open` messages of one run, and a file, many times at once."""
    name = unused("repeated")
    spool = uuid4()
    first = bodies.body([bodies.opening(name)], first=1)
    openings = at_once(installation, [(spool, first)] * times)
    batch = bodies.body([payload(0), payload(1)], first=2)
    batches = at_once(installation, [(spool, batch)] * times)
    # Another process each time, so each has a spool; the run is the same.
    others = unused("joined")
    joins = at_once(
        installation,
        [
            (uuid4(), bodies.body([bodies.opening(others, rank=rank)], first=1))
            for rank in range(times)
        ],
    )
    content = os.urandom(CONTENT_BYTES)
    with ThreadPoolExecutor(THREADS) as threads:
        contents = list(
            threads.map(lambda _: store(installation, content), range(times))
        )
    steps = read(installation, name)
    figure: dict[str, int | str] = {
        "opening_answers": len(distinct(openings)),
        "batch_answers": len(distinct(batches)),
        "joining_answers": len(distinct(joins)),
        "content_answers": len(distinct(contents)),
        "not_200": sum(
            one.status != HTTPStatus.OK for one in openings + batches + joins + contents
        ),
        "runs": runs_called(installation, name),
        "spools": spools_of(installation, name),
        "points": len(steps),
        "joined_runs": runs_called(installation, others),
        "joined_spools": spools_of(installation, others),
        "contents": installation.count(
            "tracker_blob", f"digest = '{hashlib.sha256(content).hexdigest()}'"
        ),
    }
    threshold: dict[str, int | str] = {
        "opening_answers": 1,
        "batch_answers": 1,
        "joining_answers": 1,
        "content_answers": 1,
        "not_200": 0,
        "runs": 1,
        "spools": 1,
        "points": 2 * POINTS,
        "joined_runs": 1,
        "joined_spools": times,
        "contents": 1,
    }
    return Result({"requests": 4 * times, **figure}, threshold)


def shuffle(installation: Installation, size: Size) -> Result:
    """Send batches in any order, delayed, from many threads, until all are stored."""
    replies: list[Reply] = []
    gaps = doubled = 0
    for number in range(size.rounds):
        name = unused("shuffled")
        chance = random.Random(f"{size.seed} {number}")
        frames = [bodies.opening(name), *(payload(n) for n in range(FRAMES))]
        replies += send_until_stored(installation, frames, chance)
        steps = read(installation, name)
        gaps += FRAMES * POINTS - len(np.unique(steps))
        doubled += len(steps) - len(np.unique(steps))
    figure = {
        "requests": len(replies),
        "answers_409": sum(is_gap(reply) for reply in replies),
        "gaps": gaps,
        "doubled": doubled,
        "wrong_answers": sum(not is_sensible(reply) for reply in replies),
    }
    return Result(figure, {"gaps": 0, "doubled": 0, "wrong_answers": 0})


def send_until_stored(
    installation: Installation, frames: Sequence[bytes], chance: random.Random
) -> list[Reply]:
    """Send all batches repeatedly, in another order each time; return the responses."""
    spool = uuid4()
    sent = [
        (bodies.body([frame], first=number), number)
        for number, frame in enumerate(frames, start=1)
    ]
    replies: list[Reply] = []
    # Each pass stores at least the next expected record.
    for _ in range(len(frames)):
        chance.shuffle(sent)
        delays = [chance.uniform(0, LONGEST_DELAY_SECONDS) for _ in sent]

        def send(index: int, delays: list[float] = delays) -> Reply:
            time.sleep(delays[index])
            return deliver(installation, spool, sent[index][0])

        with ThreadPoolExecutor(THREADS) as threads:
            answered = list(threads.map(send, range(len(sent))))
        replies += answered
        if max(number_of(reply) for reply in answered) == len(frames):
            break
    return replies


def contradict(installation: Installation, times: int) -> Result:
    """Send frame numbers that are already stored, with other content."""
    refused = changed = 0
    for _ in range(times):
        name = unused("contradicted")
        spool = uuid4()
        deliver(installation, spool, bodies.body([bodies.opening(name)], first=1))
        deliver(installation, spool, bodies.body([payload(0), payload(1)], first=2))
        other = bodies.body([payload(0), payload(7)], first=2)
        refused += (
            deliver(installation, spool, other).status
            == HTTPStatus.UNPROCESSABLE_ENTITY
        )
        # Even if the batch also has new frames.
        more = bodies.body([payload(7), payload(8)], first=3)
        refused += (
            deliver(installation, spool, more).status == HTTPStatus.UNPROCESSABLE_ENTITY
        )
        steps = read(installation, name)
        changed += sorted(steps) != list(range(2 * POINTS))
    return Result(
        {"requests": 2 * times, "refused": refused, "changed": changed},
        {"refused": 2 * times, "changed": 0},
    )


def payload(number: int) -> bytes:
    steps = np.arange(number * POINTS, (number + 1) * POINTS)
    return bodies.points(steps, {PATH: value_of(PATH, steps)})


def at_once(
    installation: Installation, sent: Sequence[tuple[UUID, bytes]]
) -> list[Reply]:
    with ThreadPoolExecutor(THREADS) as threads:
        return list(threads.map(lambda one: deliver(installation, *one), sent))


def deliver(installation: Installation, spool: UUID, body: bytes) -> Reply:
    """Send to any of the web servers, over a new connection."""
    connection = Connection()
    try:
        address = random.choice(installation.addresses)
        return connection.send(address, spool, body)
    finally:
        connection.close()


def store(installation: Installation, content: bytes) -> Reply:
    """Send a file as agents do, until the server does not request a retry."""
    connection = Connection()
    try:
        while True:
            address = random.choice(installation.addresses)
            # The server may reject a file before reading all of it.
            with suppress(NoAnswer):
                reply = connection.send_content(address, content)
                if reply.status not in BEGUN_BY_OTHERS:
                    return reply
            time.sleep(random.uniform(0, 2 * LONGEST_DELAY_SECONDS))
    finally:
        connection.close()


def distinct(replies: Sequence[Reply]) -> set[tuple[int, bytes]]:
    return {(reply.status, reply.body) for reply in replies}


def number_of(reply: Reply) -> int:
    """Return the number of the last stored record in the answer."""
    content = json.loads(reply.body)
    if "stored" in content:
        return int(content["stored"])
    return int(content["error"].get("expected", 1)) - 1


def is_sensible(reply: Reply) -> bool:
    content = json.loads(reply.body)
    if is_gap(reply):
        return int(content["error"]["expected"]) > 0
    return reply.status == HTTPStatus.OK and not content["refused_count"]


def is_gap(reply: Reply) -> bool:
    return reply.status == HTTPStatus.CONFLICT


def read(installation: Installation, name: str) -> list[float]:
    """Return the stored steps of the run's series, as often as they are stored."""
    run_id = run_ids(installation, name)[0]
    answer = ask(installation, f"/runs/{run_id}/series", path=PATH, buckets=10_000)
    (line,) = answer["series"]
    assert line["exact"]
    steps: list[float] = line["x"]
    return steps


def runs_called(installation: Installation, name: str) -> int:
    return len(run_ids(installation, name))


def spools_of(installation: Installation, name: str) -> int:
    overview = ask(installation, f"/runs/{run_ids(installation, name)[0]}")
    return sum(len(stage["processes"]) for stage in overview["stages"])
