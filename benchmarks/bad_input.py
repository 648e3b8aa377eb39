"""What bad input costs the server, and others meanwhile.

.venv/bin/python -m benchmarks.bad_input

Bombs of a gibibyte are in benchmarks/refusals.py.
"""

from __future__ import annotations

import gzip
import http.client
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec
import zstandard

from agent import messages
from agent.frames import Frame
from benchmarks.refusals import MIB, free_port, memory
from tracker.embedded.server import EmbeddedServer

REPEATS = 8
REQUESTS = 200
NAMES, NAMES_IN_BATCH = 1_000_000, 50_000
TAGS_IN_BATCH = 1_000
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
MAKE_SECRETS = """
import django
django.setup()
from django.test import Client
from tracker.actions.access import found_installation, make_token
from tracker.actor import Scope
owner, browser = found_installation(), Client()
browser.force_login(owner.user)
print(make_token(owner, "benchmark", Scope.FULL), browser.cookies.output(header=""))
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


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="seamark-benchmark-") as scratch:
        home = Path(scratch)
        os.environ.update(
            SEAMARK_DATA=str(home / "data"),
            XDG_CONFIG_HOME=str(home / "config"),
            XDG_STATE_HOME=str(home / "state"),
        )
        with EmbeddedServer(home / "data", free_port()) as server:
            token, _, cookie = made_secrets().partition(" ")
            caller = Caller(server.port, token, cookie.partition(";")[0].strip())
            print_json(caller)
            print_encodings(caller)
            print_slow_bodies(caller)
            print_paths_that_are_all_bad(caller)
            print_tags(caller)
            print_names(caller)


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


def print_json(caller: Caller) -> None:
    caller.send(body_of([messages.open_spool(ORIGIN)]))
    path = "/api/v1/projects/home/bad/ladders"
    for name, text in JSON_BODIES.items():
        answers = [
            caller.request("POST", path, text.encode(), Content_Type="application/json")
            for _ in range(REPEATS)
        ]
        print_answers(f"JSON, {name}", answers)


def print_encodings(caller: Caller) -> None:
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
        print_answers(f"encoding, {name}", answers, f", memory {grown:+.1f} MiB")


def print_answers(
    name: str, answers: Sequence[tuple[int, float, bytes]], more: str = ""
) -> None:
    statuses = {status for status, _, _ in answers}
    median = statistics.median(seconds for _, seconds, _ in answers)
    print(f"{name}: {statuses} in {median * 1000:.0f} ms (median of {REPEATS}){more}")


def print_slow_bodies(caller: Caller) -> None:
    alone = percentile_95(caller)
    with slow_bodies(caller, 2):
        beside = percentile_95(caller)
    print(
        f"batches of others: p95 {alone * 1000:.0f} ms alone,"
        f" {beside * 1000:.0f} ms beside two bodies of a byte a second"
    )


def percentile_95(caller: Caller) -> float:
    batch = body_of([messages.open_spool(ORIGIN)])
    seconds = sorted(caller.send(batch)[1] for _ in range(REQUESTS))
    return seconds[int(0.95 * REQUESTS)]


@contextmanager
def slow_bodies(caller: Caller, count: int) -> Iterator[None]:
    done = threading.Event()
    threads = [
        threading.Thread(target=send_slowly, args=(caller, done)) for _ in range(count)
    ]
    for thread in threads:
        thread.start()
    yield
    done.set()
    for thread in threads:
        thread.join()


def send_slowly(caller: Caller, done: threading.Event) -> None:
    head = (
        f"POST /api/v1/ingest/{uuid.uuid4()} HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        f"Authorization: Bearer {caller.token}\r\nContent-Length: 100000\r\n"
        "Content-Type: application/vnd.seamark.frames\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", caller.port)) as client:
        client.sendall(head.encode())
        while not done.wait(1):
            client.sendall(b"x")


def print_paths_that_are_all_bad(caller: Caller) -> None:
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
    print(
        f"{len(body) / MIB:.0f} MiB of bad paths, {len(packed):,} bytes as sent:"
        f" {status} in {seconds * 1000:.0f} ms,"
        f" memory afterwards {(memory() - before) / MIB:+.1f} MiB"
    )


def print_names(caller: Caller) -> None:
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
    print(f"10^6 names in one run: {dict(codes)} refused, {seconds:.1f} s in all")
    print_pages(caller)


def counted(answer: bytes) -> Counter[str]:
    receipt = json.loads(answer)
    if not receipt.get("refused"):
        return Counter()
    return Counter({receipt["refused"][0]["code"]: receipt["refused_count"]})


def print_pages(caller: Caller) -> None:
    listed = caller.request("GET", "/api/v1/projects/home/bad/runs")[2]
    run_id = json.loads(listed)["runs"][0]["id"]
    for page in ("", "charts", "attributes", "hardware"):
        path = f"/runs/{run_id}/{page}"
        answers = [
            caller.request("GET", path, Cookie=caller.cookie) for _ in range(REPEATS)
        ]
        print_answers(f"its page /{page}", answers)


def print_tags(caller: Caller) -> None:
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
    print(f"10^6 tags in one run: {status}, {codes} refused, {seconds:.1f} s")


def chunks(batch: Sequence[bytes], size: int) -> Iterator[Sequence[bytes]]:
    for low in range(0, len(batch), size):
        yield batch[low : low + size]


def body_of(*payloads: Sequence[bytes], first: int = 1) -> bytes:
    return b"".join(
        Frame(number, messages.payload(payload)).to_bytes()
        for number, payload in enumerate(payloads, start=first)
    )


if __name__ == "__main__":
    main()
