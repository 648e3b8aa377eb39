"""CF-33, CF-34: an untrusted server or proxy, and a revoked token."""

from __future__ import annotations

import json
import os
import shutil
import ssl
import time
from dataclasses import dataclass
from pathlib import Path

from benchmarks.agent_faults.case import Found, Size, at_most, none_of, not_shown
from benchmarks.agent_faults.proxy import eventually
from benchmarks.agent_faults.scripts import Place, lost_and_doubled
from seamark.servers import Server, store_server
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
# Logs until it receives a signal.
LASTING = """
import json, sys, time, agent
run = agent.init("r", monitor=False)
step = 0
def log():
    global step
    run["a"].append(step, step=step)
    step += 1
    time.sleep(0.005)
while not run._session._sender.is_everything_sent or step < 100: log()
print("begun", flush=True)
import threading
told = threading.Event()
threading.Thread(target=lambda: (sys.stdin.readline(), told.set()), daemon=True).start()
while not told.is_set(): log()
run.finish(timeout=60)
print(json.dumps({"count": step}))
"""
REVOKED_SECONDS, NEW_TOKEN = 3.0, "smk_new"


@dataclass(frozen=True, slots=True)
class Fault:
    """The initial problem, and a word of the warning."""

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


def revoked(size: Size) -> list[Found]:
    """CF-34: revoke the token of a run, and log in with a new one a little later."""
    lost = doubled = passed = unwarned = codes = 0
    slowest = 0.0
    for number in range(size.amount):
        tracker = TrackerDouble()
        place = Place(size.folder / f"revoked{number}", tracker.url)
        script = place.start(LASTING)
        assert script.stdout
        script.stdout.readline()
        before = len(tracker.messages())
        tracker.token = NEW_TOKEN
        time.sleep(REVOKED_SECONDS)
        passed += len(tracker.messages()) - before
        began = time.monotonic()
        config = place.folder / ".config/seamark/agent.json"
        store_server(config, Server(tracker.url, NEW_TOKEN))
        is_back = eventually(lambda t=tracker, b=before: len(t.messages()) > b)
        slowest = max(slowest, time.monotonic() - began if is_back else float("inf"))
        said, complained = script.communicate("\n", timeout=120)
        codes += script.returncode != 0
        unwarned += complained.count("401") + complained.count("token") == 0
        count = json.loads(said.splitlines()[-1])["count"]
        found = lost_and_doubled(tracker, {"a": count})
        lost, doubled = lost + found[0], doubled + found[1]
        tracker.stop()
    return [
        Found(
            f"the token of a run is revoked for {REVOKED_SECONDS:g} s, then there is a"
            f" new one; {size.amount} times",
            [f"delivered again after {slowest:.1f} s at most, without a restart"],
            [
                none_of("messages taken meanwhile", passed),
                none_of("not warned of", unwarned),
                none_of("other exit codes", codes),
                none_of("lost", lost),
                none_of("doubled", doubled),
                at_most("until it is delivered", slowest, 10, "s"),
            ],
        )
    ]


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
