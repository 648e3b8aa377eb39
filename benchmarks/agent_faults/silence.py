"""CF-18: a killed run is detected by missing heartbeats, and a live one is not.

Uses a real tracker with its own clock. Nothing delivers the spool of a killed script,
so that missing heartbeats are the only evidence.
"""

from __future__ import annotations

import signal
import subprocess
import time
import urllib.error
import urllib.request
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial

from benchmarks.agent_faults.case import Found, Size, at_most, none_of
from benchmarks.agent_faults.scripts import Place
from benchmarks.faults.bodies import PROJECT
from benchmarks.faults.case import SQLITE
from benchmarks.faults.case import Size as StoreSize
from benchmarks.faults.installation import Installation, eventually
from benchmarks.faults.repeats import ask, installed, run_ids, unused
from benchmarks.faults.wire import NoAnswer

# By the rule 90 s of silence, which is looked for each 15 s.
LONGEST_SECONDS = 120.0
# A watchdog, not a specification.
GIVEN_UP_SECONDS = 240.0
LOOK_SECONDS = 1.0
# Actions on scripts, and their durations. A job suspended for longer than the rule may
# count as crashed meanwhile, and as running after it continues.
KILLED, ALONE = "killed", "left alone"
PAUSES = {"stopped for a minute": 60.0, "stopped for longer": 125.0}
BRIEFLY = "stopped for a minute"
SCRIPT = """
import time
import agent
run = agent.init(monitor=False)
run["a"].append(1.0)
while True:
    time.sleep(1.0)
"""


@dataclass(slots=True)
class Watched:
    """A script, the action on it, and the observed states of its run."""

    kind: str
    process: subprocess.Popen[str]
    run_id: str
    states: list[str] = field(default_factory=list)
    crashed_after: float | None = None


def fallen_silent(size: Size) -> list[Found]:
    """Kill scripts, stop others for a while, leave some alone; look at all of them."""
    of_store = StoreSize(folder=size.folder / "tracker", rounds=size.amount)
    with ExitStack() as stack:
        return [watched(installed(stack, of_store, SQLITE), size)]


def watched(installation: Installation, size: Size) -> Found:
    """The same on a tracker that runs already."""
    with ExitStack() as stack:
        everyone = []
        for kind in (KILLED, ALONE, *PAUSES):
            for number in range(size.amount):
                one = _started(installation, size, kind, number)
                stack.callback(one.process.communicate)
                stack.callback(one.process.kill)
                everyone.append(one)
        _watch(installation, everyone)
    killed = [one for one in everyone if one.kind == KILLED]
    living = [one for one in everyone if one.kind != KILLED]
    in_time = [one for one in living if one.kind in (ALONE, BRIEFLY)]
    undeleted = sum(not _is_deleted(installation, one.run_id) for one in killed)
    after = [one.crashed_after for one in killed if one.crashed_after is not None]
    return Found(
        f"scripts are {KILLED}, {ALONE}, {', '.join(PAUSES)}: {size.amount} each;"
        " nobody delivers what is left",
        [
            f"known to have crashed after {min(after):.0f} to {max(after):.0f} s"
            if after
            else "never known to have crashed"
        ],
        [
            at_most("detection", max(after, default=0.0), LONGEST_SECONDS, "s"),
            none_of("not detected", len(killed) - len(after)),
            none_of(
                "said to have crashed though they live",
                sum("crashed" in one.states for one in in_time),
            ),
            none_of(
                "that go on and are not said to run",
                sum(one.states[-1] != "running" for one in living),
            ),
            none_of("crashed runs that cannot be deleted", undeleted),
        ],
    )


def _started(installation: Installation, size: Size, kind: str, number: int) -> Watched:
    address, name = installation.addresses[0], unused("silent")
    place = Place(
        size.folder / f"{kind}{number}",
        f"http://127.0.0.1:{address.port}",
        SEAMARK_TOKEN=address.token,
        SEAMARK_PROJECT=PROJECT,
        SEAMARK_RUN=name,
    )
    process = place.start(SCRIPT)
    found = eventually(partial(_begun, installation, name), "a run that has begun")
    return Watched(kind, process, found[0])


def _begun(installation: Installation, name: str) -> list[str]:
    try:
        return run_ids(installation, name)
    except NoAnswer:
        # The first run of all makes the project.
        return []


def _watch(installation: Installation, everyone: list[Watched]) -> None:
    """Look again and again, until those that are gone are known and others are back."""
    began = time.monotonic()
    stopped = [one for one in everyone if one.kind in PAUSES]
    for one in everyone:
        if one.kind == KILLED:
            one.process.kill()
        elif one.kind in PAUSES:
            one.process.send_signal(signal.SIGSTOP)
    while (passed := time.monotonic() - began) < GIVEN_UP_SECONDS:
        for one in [one for one in stopped if passed > PAUSES[one.kind]]:
            one.process.send_signal(signal.SIGCONT)
            stopped.remove(one)
        for one in everyone:
            one.states.append(ask(installation, f"/runs/{one.run_id}")["state"])
            if one.kind == KILLED and one.states[-1] == "crashed":
                one.crashed_after = one.crashed_after or time.monotonic() - began
        is_known = all(one.crashed_after for one in everyone if one.kind == KILLED)
        are_back = all(o.states[-1] == "running" for o in everyone if o.kind != KILLED)
        if is_known and are_back and not stopped:
            return
        time.sleep(LOOK_SECONDS)


def _is_deleted(installation: Installation, run_id: str) -> bool:
    """Delete a run for good; return whether it is gone."""
    try:
        _send(installation, "POST", f"/runs/{run_id}/trash")
        _send(installation, "DELETE", f"/runs/{run_id}")
    except urllib.error.HTTPError:
        return False
    try:
        ask(installation, f"/runs/{run_id}")
    except NoAnswer:
        return True
    return False


def _send(installation: Installation, method: str, place: str) -> None:
    address = installation.addresses[0]
    request = urllib.request.Request(
        f"http://127.0.0.1:{address.port}/api/v1{place}",
        method=method,
        headers={"Authorization": f"Bearer {address.token}"},
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        answer.read()
