"""What bad times cost: a decompression bomb at the server, an exit without a server.

.venv/bin/python -m benchmarks.refusals
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

from tracker.embedded.server import EmbeddedServer

MIB = 2**20
BOMB_MIB = 1024
REPEATS = 8
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


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="seamark-benchmark-") as scratch:
        home = Path(scratch)
        os.environ.update(
            XDG_CONFIG_HOME=str(home / "config"), XDG_STATE_HOME=str(home / "state")
        )
        with EmbeddedServer(home / "data", free_port()) as server:
            token = json.loads((home / "config/seamark/agent.json").read_text())
            for encoding, bomb in {"zstd": zstd_bomb(), "gzip": gzip_bomb()}.items():
                print_bomb(server, token["token"], encoding, bomb)
        print_exit("exit, server down", {})
        print_exit("exit, no server known", {"XDG_CONFIG_HOME": str(home / "none")})


def print_bomb(server: EmbeddedServer, token: str, encoding: str, bomb: bytes) -> None:
    send(server, token, encoding, bomb)  # the first of its kind loads libraries
    before = memory()
    seconds = []
    for _ in range(REPEATS):
        started = time.perf_counter()
        status = send(server, token, encoding, bomb)
        seconds.append(time.perf_counter() - started)
    print(
        f"{BOMB_MIB} MiB {encoding} bomb: {status} in "
        f"{statistics.median(seconds) * 1000:.0f} ms (median of {REPEATS}), "
        f"server memory {(memory() - before) / MIB:+.1f} MiB"
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


def print_exit(name: str, environment: dict[str, str]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    print(f"{name}: {float(done.stdout):.2f} s from the script's end to the process's")


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
    main()
