"""Measures the cost of bad input for the server, and for other clients.

.venv/bin/python -m benchmarks.bad_input [case …]

Bombs of a gibibyte are in benchmarks/refusals.py. Prints a Markdown table; exits with 1
if a bound is exceeded.
"""

from __future__ import annotations

import argparse
import gzip
import http.client
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import msgspec
import zstandard

from benchmarks.load.table import Bound, Row, rows_table
from benchmarks.refusals import MIB, free_port, memory
from seamark import messages
from seamark.queue.frames import Frame
from tracker.embedded.server import EmbeddedServer

REPEATS = 8
REQUESTS = 200
# Bounds.
JSON_SECONDS, ENCODING_SECONDS, ENCODING_MIB = 0.050, 0.100, 32
OTHERS_FACTOR = 2.0
PAGE_SECONDS = 2.0
# Numbers of concurrent bodies at one byte per second, with one token.
SLOW_AT_ONCE = (3, 8)
SLOW_SECONDS = 60
REFUSED = range(400, 500)
REFUSED_SLOW = {400, 408, 413}
NAMES, NAMES_IN_BATCH, NAMES_CODE = 1_000_000, 50_000, "too_many_attributes"
TAGS_IN_BATCH = 1_000
REWINDS, REWINDS_IN_MESSAGE = 1_000_000, 100_000
REWIND_SECONDS, REWIND_MIB = 2.0, 128
WANTED = '"name": "climb", "rungs": [{"run": "baseline"}]'
JSON_BODIES = {
    "10^5 lists": "[" * 100_000 + "]" * 100_000,
    "5,000 digits": f'{{"x": {"9" * 5_000}, {WANTED}}}',
    "a key twice": f'{{"name": "a", {WANTED}}}',
    "byte order mark": f"\ufeff{{{WANTED}}}",
    "trailing bytes": f"{{{WANTED}}}x",
    "1e999": f'{{"x": 1e999, {WANTED}}}',
    "2.4 MB of brackets": "[" * 2_400_000,
    "2.4 MB of digits": "9" * 2_400_000,
}
DATABASE = "SQLite"
MAKE_SECRETS = """
import django
django.setup()
from django.test import Client
from tracker.actions.access import found_installation, make_token
from tracker.actor import Scope
owner, browser = found_installation(), Client()
browser.force_login(owner.user)
tokens = [make_token(owner, name, Scope.MANAGE) for name in ("benchmark", "slow")]
print(*tokens, browser.cookies.output(header=""))
"""
ORIGIN = messages.Origin(
    project="bad", run="bad", stage="train", rank=0, host="h", pid=1, agent="0", time=0
)


@dataclass(frozen=True, slots=True)
class Caller:
    """Sends requests to the server, with a token and a cookie of its owner."""

    port: int
    token: str
    cookie: str

    def request(
        self, method: str, path: str, body: bytes = b"", **headers: str
    ) -> tuple[int, float, bytes]:
        """Return the status, how many seconds it took, and the answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=300)
        known = {"Authorization": f"Bearer {self.token}"}
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        started = time.perf_counter()
        connection.request(method, path, body, known | named)
        response = connection.getresponse()
        content = response.read()
        seconds = time.perf_counter() - started
        connection.close()
        return response.status, seconds, content

    def send(
        self, body: bytes, spool: uuid.UUID | None = None, **headers: str
    ) -> tuple[int, float, bytes]:
        path = f"/api/v1/ingest/{spool or uuid.uuid4()}"
        known = {"Content_Type": "application/vnd.seamark.frames"}
        return self.request("POST", path, body, **{**known, **headers})


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bad_input")
    parser.description = (__doc__ or "").splitlines()[0]
    parser.add_argument("cases", nargs="*", help=f"{', '.join(CASES)}; or all")
    cases = parser.parse_args().cases or list(CASES)
    if unknown := sorted(set(cases) - set(CASES)):
        parser.error(f"there is no case {', '.join(unknown)}")
    with tempfile.TemporaryDirectory(prefix="seamark-benchmark-") as scratch:
        home = Path(scratch)
        os.environ.update(
            SEAMARK_DATA=str(home / "data"),
            XDG_CONFIG_HOME=str(home / "config"),
            XDG_STATE_HOME=str(home / "state"),
        )
        with EmbeddedServer(home / "data", free_port()) as server:
            token, slow_token, cookies = made_secrets().split(" ", 2)
            cookie = cookies.partition(";")[0].strip()
            callers = [Caller(server.port, one, cookie) for one in (token, slow_token)]
            rows = [row for case in cases for row in CASES[case](*callers)]
    print(rows_table(rows))
    return 1 if any(row.holds is False for row in rows) else 0


def made_secrets() -> str:
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "tracker.settings"}
    done = subprocess.run(
        [sys.executable, "-c", MAKE_SECRETS],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def row(case: str, run: str, figures: Sequence[str], *bounds: Bound) -> Row:
    return Row(case, DATABASE, run, figures, bounds)


def json_rows(caller: Caller, _: Caller) -> Iterator[Row]:
    caller.send(body_of([messages.open_spool(ORIGIN)]))
    path = "/api/v1/projects/home/bad/ladders"
    for name, text in JSON_BODIES.items():
        answers = [
            caller.request("POST", path, text.encode(), Content_Type="application/json")
            for _ in range(REPEATS)
        ]
        # Far larger than any ladder, so it may be rejected by size alone.
        yield row("BI-04", f"JSON: {name}", *refused(answers, JSON_SECONDS))


def encoding_rows(caller: Caller, _: Caller) -> Iterator[Row]:
    batch = body_of([messages.open_spool(ORIGIN)])
    parameters = zstandard.ZstdCompressionParameters(window_log=27)
    writer = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    wide = writer.compress(batch) + writer.flush()
    packed = zstandard.compress(batch)
    for name, encoding, body in (
        ("stacked", "zstd, zstd", zstandard.compress(packed)),
        ("10^5 zstd frames", "zstd", packed + zstandard.compress(b"") * 100_000),
        ("10^5 gzip members", "gzip", gzip.compress(b"") * 100_000),
        ("a window of 128 MiB", "zstd", wide),
    ):
        before = memory()
        answers = [caller.send(body, Content_Encoding=encoding) for _ in range(REPEATS)]
        grown = (memory() - before) / MIB
        figures, *bounds = refused(answers, ENCODING_SECONDS)
        figures = [*figures, f"memory {grown:+.1f} MiB"]
        room = Bound(f"at most {ENCODING_MIB} MiB more", grown <= ENCODING_MIB)
        yield row("BI-05", f"encoding: {name}", figures, *bounds, room)


def refused(
    answers: Sequence[tuple[int, float, bytes]], most_seconds: float
) -> tuple[Sequence[str], Bound, Bound]:
    """Return the answer, and whether it was a rejection in time."""
    statuses, median = summary(answers)
    return (
        [*statuses, f"{median * 1000:.0f} ms (median of {len(answers)})"],
        Bound("refused", all(status in REFUSED for status, _, _ in answers)),
        Bound(f"within {most_seconds * 1000:.0f} ms", median <= most_seconds),
    )


def summary(answers: Sequence[tuple[int, float, bytes]]) -> tuple[list[str], float]:
    statuses = sorted({str(status) for status, _, _ in answers})
    return statuses, statistics.median(seconds for _, seconds, _ in answers)


def slow_rows(others: Caller, slow: Caller) -> Iterator[Row]:
    """Measure slow bodies of one token, next to batches of the same and another token."""
    for count in SLOW_AT_ONCE:
        for who, caller in (("another token", others), ("the same token", slow)):
            alone = sent(caller)
            with slow_bodies(slow, count) as ends:
                beside = sent(caller)
            before, after = percentile_95(alone), percentile_95(beside)
            failed = sum(status != http.HTTPStatus.OK for status, _ in beside)
            longest = max(seconds for _, seconds in ends)
            bounds = [
                Bound(
                    "the slow ones are refused",
                    {end for end, _ in ends} <= REFUSED_SLOW,
                )
            ]
            if caller is others:
                bounds += [
                    Bound("all others are served", not failed),
                    Bound(
                        f"their p95 at most {OTHERS_FACTOR:.0f} times as long",
                        after <= OTHERS_FACTOR * before,
                    ),
                ]
            yield row(
                "BI-06",
                f"{count} bodies of a byte a second beside batches of {who}",
                [
                    f"batches: p95 {before * 1000:.1f} ms alone,"
                    f" {after * 1000:.1f} ms beside them",
                    f"{failed} of {len(beside)} not stored",
                    f"slow ones: {dict(Counter(end for end, _ in ends))},"
                    f" the last after {longest:.1f} s",
                ],
                *bounds,
            )


def sent(caller: Caller) -> list[tuple[int, float]]:
    batch = body_of([messages.open_spool(ORIGIN)])
    return [caller.send(batch)[:2] for _ in range(REQUESTS)]


def percentile_95(answers: Sequence[tuple[int, float]]) -> float:
    return sorted(seconds for _, seconds in answers)[int(0.95 * len(answers))]


@contextmanager
def slow_bodies(caller: Caller, count: int) -> Iterator[list[tuple[int, float]]]:
    """Send slow bodies; the yielded list has their outcomes afterwards."""
    ends: list[tuple[int, float]] = []
    with ThreadPoolExecutor(count) as threads:
        slow = [threads.submit(send_slowly, caller) for _ in range(count)]
        yield ends
        ends += [one.result() for one in slow]


def send_slowly(caller: Caller) -> tuple[int, float]:
    """Send a byte a second; return the status of the answer, and when it came."""
    head = (
        f"POST /api/v1/ingest/{uuid.uuid4()} HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        f"Authorization: Bearer {caller.token}\r\nContent-Length: 100000\r\n"
        "Content-Type: application/vnd.seamark.frames\r\n\r\n"
    )
    began = time.monotonic()
    with socket.create_connection(("127.0.0.1", caller.port), timeout=1) as client:
        client.sendall(head.encode())
        while time.monotonic() < began + SLOW_SECONDS:
            client.sendall(b"x")
            with suppress(TimeoutError):
                line = client.recv(65536).partition(b"\r\n")[0]
                return int(line.split()[1]), time.monotonic() - began
    return 0, time.monotonic() - began


def many_rows(caller: Caller, _: Caller) -> Iterator[Row]:
    yield bad_paths_row(caller)
    yield tags_row(caller)
    yield rewinds_row(caller)
    yield from name_rows(caller)


def bad_paths_row(caller: Caller) -> Row:
    message = msgspec.msgpack.encode(
        {
            "t": "points",
            "paths": ["good", *[""] * 90_000],
            **dict.fromkeys(("steps", "times", "values"), b""),
        }
    )
    body = body_of([messages.open_spool(ORIGIN)], *[[message] * 10])
    packed = zstandard.compress(body)
    before = memory()
    status, seconds, _ = caller.send(packed, Content_Encoding="zstd")
    return row(
        "BI-07",
        f"{len(body) / MIB:.0f} MiB of bad paths, {len(packed):,} bytes as sent",
        [
            f"{status} in {seconds * 1000:.0f} ms",
            f"memory afterwards {(memory() - before) / MIB:+.1f} MiB",
        ],
        Bound("answered, and not 5xx", status < http.HTTPStatus.INTERNAL_SERVER_ERROR),
    )


def name_rows(caller: Caller) -> Iterator[Row]:
    spool, codes = uuid.uuid4(), Counter[str]()
    caller.send(body_of([messages.open_spool(ORIGIN)]), spool)
    started = time.perf_counter()
    for number, low in enumerate(range(0, NAMES, NAMES_IN_BATCH), start=2):
        batch = [
            messages.set_value(f"name/{name}", 1.0)
            for name in range(low, low + NAMES_IN_BATCH)
        ]
        _, _, answer = caller.send(body_of(batch, first=number), spool)
        codes += counted(answer)
    seconds = time.perf_counter() - started
    yield row(
        "BI-07",
        f"{NAMES:,} names in one run",
        [f"refused: {dict(codes)}", f"{seconds:.1f} s in all"],
        Bound("refused with a code beyond the limit", set(codes) == {NAMES_CODE}),
    )
    yield from page_rows(caller)


def counted(answer: bytes) -> Counter[str]:
    receipt = json.loads(answer)
    if not receipt.get("refused"):
        return Counter()
    return Counter({receipt["refused"][0]["code"]: receipt["refused_count"]})


def page_rows(caller: Caller) -> Iterator[Row]:
    listed = caller.request("GET", "/api/v1/projects/home/bad/runs")[2]
    run_id = json.loads(listed)["runs"][0]["id"]
    for page in ("", "charts", "attributes", "hardware"):
        path = f"/runs/{run_id}/{page}"
        answers = [
            caller.request("GET", path, Cookie=caller.cookie) for _ in range(REPEATS)
        ]
        statuses, median = summary(answers)
        yield row(
            "BI-07",
            f"the run's page /{page}",
            [*statuses, f"{median * 1000:.0f} ms (median of {REPEATS})"],
            Bound("opens", statuses == ["200"]),
            Bound(f"within {PAGE_SECONDS:.0f} s", median <= PAGE_SECONDS),
        )


def tags_row(caller: Caller) -> Row:
    spool = uuid.uuid4()
    caller.send(body_of([messages.open_spool(ORIGIN)]), spool)
    batch = [
        messages.change_tags([f"{low}-{tag}" for tag in range(TAGS_IN_BATCH)], [])
        for low in range(1_000_000 // TAGS_IN_BATCH)
    ]
    started = time.perf_counter()
    status, _, answer = caller.send(body_of(*chunks(batch, 100), first=2), spool)
    seconds = time.perf_counter() - started
    codes = dict(counted(answer))
    return row(
        "BI-07",
        "10^6 tags in one run",
        [f"{status}", f"refused: {codes}", f"{seconds:.1f} s"],
        Bound("refused with a code beyond the limit", bool(codes)),
    )


def rewinds_row(caller: Caller) -> Row:
    batch = [
        messages.rewind(
            [f"{path:x}" for path in range(low, low + REWINDS_IN_MESSAGE)],
            [0.0] * REWINDS_IN_MESSAGE,
            0,
        )
        for low in range(0, REWINDS, REWINDS_IN_MESSAGE)
    ]
    body = body_of([messages.open_spool(ORIGIN)], *chunks(batch, 1))
    before = memory()
    status, seconds, _ = caller.send(zstandard.compress(body), Content_Encoding="zstd")
    grown = (memory() - before) / MIB
    return row(
        "BI-07",
        f"{REWINDS:,} series logged again, {len(body) / MIB:.0f} MiB",
        [
            f"{status} in {seconds * 1000:.0f} ms",
            f"memory afterwards {grown:+.1f} MiB",
        ],
        Bound("refused", status in REFUSED),
        Bound(f"within {REWIND_SECONDS:.0f} s", seconds <= REWIND_SECONDS),
        Bound(f"at most {REWIND_MIB} MiB more", grown <= REWIND_MIB),
    )


def chunks(batch: Sequence[bytes], size: int) -> Iterator[Sequence[bytes]]:
    for low in range(0, len(batch), size):
        yield batch[low : low + size]


def body_of(*payloads: Sequence[bytes], first: int = 1) -> bytes:
    return b"".join(
        Frame(number, messages.payload(payload)).to_bytes()
        for number, payload in enumerate(payloads, start=first)
    )


CASES: dict[str, Callable[[Caller, Caller], Iterator[Row]]] = {
    "BI-04": json_rows,
    "BI-05": encoding_rows,
    "BI-06": slow_rows,
    "BI-07": many_rows,
}

if __name__ == "__main__":
    sys.exit(main())
