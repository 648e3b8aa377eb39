"""Measures failures: a decompression bomb at the server, an exit without a server.

.venv/bin/python -m benchmarks.refusals

Prints a Markdown table; exits with 1 if a bound is exceeded.
"""

from __future__ import annotations

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
import zlib
from pathlib import Path

import psutil
import zstandard

from benchmarks.load.table import Bound, Row, rows_table
from tracker.embedded.server import EmbeddedServer

MIB = 2**20
BOMB_MIB = 1024
REPEATS = 8
# Bounds; that of a script's exit is CF-17's.
BOMB_SECONDS, BOMB_GROWTH_MIB, EXIT_SECONDS = 0.100, 32, 5.0
SCRIPT = """
import atexit, time
started = []
# Registered before the agent's own hooks, so it runs after them.
atexit.register(lambda: print(time.monotonic() - started[0]))
import agent
run = agent.init("offline", project="benchmark")
run["loss"].extend([float(step) for step in range(500)])
started.append(time.monotonic())
"""


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="seamark-benchmark-") as scratch:
        home = Path(scratch)
        os.environ.update(
            XDG_CONFIG_HOME=str(home / "config"), XDG_STATE_HOME=str(home / "state")
        )
        with EmbeddedServer(home / "data", free_port()) as server:
            token = json.loads((home / "config/seamark/agent.json").read_text())
            bombs = {"zstd": zstd_bomb(), "gzip": gzip_bomb()}
            rows = [
                bomb_row(server, token["token"], encoding, bomb)
                for encoding, bomb in bombs.items()
            ]
        nowhere = {"XDG_CONFIG_HOME": str(home / "none")}
        rows += [exit_row("server down", {}), exit_row("no server known", nowhere)]
    print(rows_table(rows))
    return 1 if any(row.holds is False for row in rows) else 0


def bomb_row(server: EmbeddedServer, token: str, encoding: str, bomb: bytes) -> Row:
    send(server, token, encoding, bomb)  # the first of its kind loads libraries
    before = memory()
    seconds = []
    for _ in range(REPEATS):
        started = time.perf_counter()
        status = send(server, token, encoding, bomb)
        seconds.append(time.perf_counter() - started)
    median, grown = statistics.median(seconds), (memory() - before) / MIB
    return Row(
        "BI-05",
        "SQLite",
        f"a bomb of {BOMB_MIB} MiB, {encoding}, {len(bomb):,} bytes as sent",
        [
            f"{status} in {median * 1000:.0f} ms (median of {REPEATS})",
            f"server memory {grown:+.1f} MiB",
        ],
        [
            Bound("413", status == http.HTTPStatus.REQUEST_ENTITY_TOO_LARGE),
            Bound(f"within {BOMB_SECONDS * 1000:.0f} ms", median <= BOMB_SECONDS),
            Bound(f"at most {BOMB_GROWTH_MIB} MiB more", grown <= BOMB_GROWTH_MIB),
        ],
    )


def send(server: EmbeddedServer, token: str, encoding: str, body: bytes) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    headers = {
        "Authorization": f"Bearer {token}",
        "Content-Type": "application/vnd.seamark.frames",
        "Content-Encoding": encoding,
    }
    connection.request("POST", f"/api/v1/ingest/{uuid.uuid4()}", body, headers)
    status = connection.getresponse().status
    connection.close()
    return status


def memory() -> int:
    children = psutil.Process().children(recursive=True)
    return sum(child.memory_info().rss for child in children)


def exit_row(name: str, environment: dict[str, str]) -> Row:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    seconds = float(done.stdout)
    return Row(
        "CF-17",
        "",
        f"the end of a script, {name}",
        [f"{seconds:.2f} s from the script's end to the process's"],
        [Bound(f"within {EXIT_SECONDS:.0f} s", seconds <= EXIT_SECONDS)],
    )


def zstd_bomb() -> bytes:
    packer = zstandard.ZstdCompressor(level=19).compressobj()
    pieces = [packer.compress(bytes(MIB)) for _ in range(BOMB_MIB)]
    return b"".join([*pieces, packer.flush()])


def gzip_bomb() -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, 16 + zlib.MAX_WBITS)
    pieces = [packer.compress(bytes(MIB)) for _ in range(BOMB_MIB)]
    return b"".join([*pieces, packer.flush()])


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


if __name__ == "__main__":
    sys.exit(main())
