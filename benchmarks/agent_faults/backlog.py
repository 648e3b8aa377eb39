"""CF-04, CF-29: much is logged while no server answers, which then comes back."""

from __future__ import annotations

import json

from benchmarks.agent_faults.case import Bound, Found, Size, at_most, none_of
from benchmarks.agent_faults.proxy import HEALTHY, HUNG, Proxy
from benchmarks.agent_faults.scripts import (
    Place,
    dropped_points,
    end_after,
    stored_points,
)
from tests.agent.tracker_double import TrackerDouble

# On this machine's disk; the agent has the same cap, but larger.
CAP_MEBIBYTES = 64
LOGGING = f"""
import json, sys, time
import agent, seamark.queue.spool
seamark.queue.spool.LARGEST_SPOOL_BYTES = {CAP_MEBIBYTES} * 2**20
def memory(name):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) / 1024 for line in file if line.startswith(name))
run = agent.init("r", monitor=False)
data = {{f"m/{{number}}": 0.5 for number in range(20)}}
run.log(data)
time.sleep(0.5)
before, logged, began = memory("VmRSS"), 1, time.monotonic()
points, rate = int(sys.argv[1]), float(sys.argv[2])
while logged * 20 < points:
    for number in range(100):
        run.log({{name: logged * 1.1 + number for name in data}})
        logged += 1
    wait = began + logged * 20 / rate - time.monotonic()
    if wait > 0: time.sleep(wait)
seconds = time.monotonic() - began
session = run._session
print(json.dumps({{
    "logged": logged * 20, "seconds": seconds, "more": memory("VmHWM") - before,
    "spool": seamark.queue.spool.stored_bytes(session.folder) / 2**20,
}}), flush=True)
sys.stdin.readline()
began = time.monotonic()
while not (session.is_all_written and session._sender.is_everything_sent):
    if time.monotonic() > began + 200: break
    time.sleep(0.02)
print(time.monotonic() - began, flush=True)
run.finish(30)
"""
RATE = 200_000.0
# As fast as ten of those that log 10,000 points a second.
TEN_TIMES = 100_000


def comes_back(size: Size) -> list[Found]:
    """Log so many million points against a hung server, then let it answer."""
    tracker = TrackerDouble()
    with Proxy(tracker.port) as proxy:
        proxy.way = HUNG
        place = Place(size.folder / "backlog", proxy.url)
        process = place.start(LOGGING, str(size.amount * 1_000_000), str(RATE))
        timer = end_after(process, 600)
        assert process.stdin
        assert process.stdout
        answer = json.loads(process.stdout.readline())
        proxy.way = HEALTHY
        proxy.break_all()
        process.stdin.write("\n")
        process.stdin.flush()
        drained = float(process.stdout.readline())
        process.communicate()
        timer.cancel()
    stored, dropped = stored_points(tracker), dropped_points(tracker)
    tracker.stop()
    unsaid = answer["logged"] - stored - dropped
    return [
        Found(
            f"{answer['logged'] / 1e6:.0f} million points in {answer['seconds']:.0f} s while the"
            f" server hangs, as many as an hour of 10,000 a second has in"
            f" {answer['logged'] / 36e6:.0%} of it; the spool may have {CAP_MEBIBYTES} MiB",
            [
                f"{answer['more']:.0f} MiB of memory more, {answer['spool']:.0f} MiB of disk",
                f"{stored:,} stored, {dropped:,} dropped and said so",
                f"delivered in {drained:.1f} s: {stored / drained:,.0f} points a second",
            ],
            [
                at_most("memory", answer["more"], 96, "MiB more"),
                # The file at hand is written to its end.
                at_most("spool", answer["spool"], CAP_MEBIBYTES + 9, "MiB"),
                none_of("neither stored nor counted as dropped", unsaid),
                Bound(
                    "ten times as fast as 10,000 a second",
                    stored / drained > TEN_TIMES,
                    is_pace=True,
                ),
            ],
        )
    ]
