"""CF-33: what stands between a script and its server cannot be trusted."""

from __future__ import annotations

import os
import shutil
import ssl
from dataclasses import dataclass
from pathlib import Path

from benchmarks.agent_faults.case import Found, Size, none_of, not_shown
from benchmarks.agent_faults.scripts import Place, lost_and_doubled
from tests.agent.commands.site import Authority
from tests.agent.tracker_double import Scripted, TrackerDouble

PORTAL = b"<html>Welcome to the hotel</html>"
LOGGING = """
import sys, time, agent
run = agent.init("r", monitor=False)
for step in range(1000):
    run["a"].append(step, step=step)
time.sleep(float(sys.argv[1]))
"""
_WAIT_SECONDS = "1.5"


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong at first, and a word of the warning."""

    certificate: dict[str, object] | None
    word: str
    # The authority is known to the script from the beginning.
    is_known: bool = True
    proxy: str = ""
    answers: int = 0


FAULTS = {
    "a certificate that has expired": Fault({"days": -1}, "has expired"),
    "a certificate of another host": Fault(
        {"names": "DNS:elsewhere.test"}, "is for another host"
    ),
    "an own authority that is not named": Fault({}, "SSL_CERT_FILE", is_known=False),
    "a proxy that is not there": Fault(
        None, "over the proxy", proxy="http://127.0.0.1:9"
    ),
    "a portal that says 200 to everything": Fault(
        None, "not from a tracker", answers=1_000
    ),
}


def untrusted(size: Size) -> list[Found]:
    """Log through each fault, then put it right."""
    if shutil.which("openssl") is None:
        return [not_shown("certificates", "there is no openssl")]
    authority = Authority(_folder(size.folder / "authority"))
    right = authority.certificate("right")
    return [
        _held(words, fault, size, authority, right) for words, fault in FAULTS.items()
    ]


def _held(
    words: str,
    fault: Fault,
    size: Size,
    authority: Authority,
    right: tuple[Path, Path],
) -> Found:
    lost = doubled = sent = unwarned = codes = 0
    for number in range(size.amount):
        name = f"{words.replace(' ', '-')}{number}"
        has_tls = fault.certificate is not None
        bad = authority.certificate(name, **fault.certificate) if has_tls else None
        tracker = _tracker(0, bad)
        tracker.script.extend(fault.answers * [Scripted(200, PORTAL)])
        scheme = "https" if has_tls else "http"
        place = Place(size.folder / name, f"{scheme}://127.0.0.1:{tracker.port}")
        trusting = {"SSL_CERT_FILE": str(authority.file)}
        at_first = dict(trusting) if fault.is_known else {}
        if fault.proxy:
            at_first |= {"HTTP_PROXY": fault.proxy, "HTTPS_PROXY": fault.proxy}
        done = place.perform(
            LOGGING, _WAIT_SECONDS, SEAMARK_EXIT_SECONDS="1", **at_first
        )
        codes += done.returncode != 0
        unwarned += done.stderr.count(fault.word) != 1
        sent += len(tracker.messages())
        port = tracker.port
        tracker.stop()
        tracker = _tracker(port, right if has_tls else None)
        place.environment.update(trusting)
        place.sync()
        found = lost_and_doubled(tracker, {"a": 1_000})
        lost, doubled = lost + found[0], doubled + found[1]
        tracker.stop()
    return Found(
        f"{words}, {size.amount} times; then it is put right",
        [],
        [
            none_of("messages taken before", sent),
            none_of("not warned of once", unwarned),
            none_of("other exit codes", codes),
            none_of("lost", lost),
            none_of("doubled", doubled),
        ],
    )


def _tracker(port: int, certificate: tuple[Path, Path] | None) -> TrackerDouble:
    double = TrackerDouble(port)
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*map(os.fspath, certificate))
        server = double._server  # noqa: SLF001 - a double of this project's own
        server.socket = context.wrap_socket(
            server.socket, server_side=True, do_handshake_on_connect=False
        )
    return double


def _folder(path: Path) -> Path:
    path.mkdir(parents=True)
    return path
