"""CF-03: the server is not there when a script begins, and comes while it logs."""

from __future__ import annotations

import json
import socket

from benchmarks.agent_faults.case import Found, Size, at_most, none_of
from benchmarks.agent_faults.scripts import (
    Place,
    dropped_points,
    end_after,
    lost_and_doubled,
)
from tests.agent.tracker_double import TrackerDouble

WIDTH, HERTZ = 100, 10
# The script logs on until everything has arrived, or this has passed.
LONGEST_DELIVERY_SECONDS = 120.0
SCRIPT = f"""
import json, sys, time
began = time.monotonic()
import agent
imported = time.monotonic()
run = agent.init("r", monitor=False)
opened, longest, step = time.monotonic(), 0.0, 0
paths = [f"m/{{number}}" for number in range({WIDTH})]
while time.monotonic() < opened + float(sys.argv[1]):
    data = {{path: step for path in paths}}
    before = time.monotonic()
    run.log(data, step=step)
    run["said"].append(f"line {{step}}", step=step)
    longest = max(longest, time.monotonic() - before)
    step += 1
    time.sleep(max(0.0, opened + step / {HERTZ} - time.monotonic()))
print(json.dumps({{"init": opened - imported, "longest": longest, "steps": step}}), flush=True)
sys.stdin.readline()
began, session = time.monotonic(), run._session
while not (session.is_all_written and session._sender.is_everything_sent):
    if time.monotonic() > began + {LONGEST_DELIVERY_SECONDS}: break
    time.sleep(0.02)
print(time.monotonic() - began, flush=True)
"""


def is_absent(size: Size) -> list[Found]:
    """Log for so many seconds without a server, then start one."""
    port = _unused_port()
    place = Place(size.folder / "absent", f"http://127.0.0.1:{port}")
    process = place.start(SCRIPT, str(size.amount))
    timer = end_after(process, size.amount + 300)
    assert process.stdin
    assert process.stdout
    answer = json.loads(process.stdout.readline())
    tracker = TrackerDouble(port)
    process.stdin.write("\n")
    process.stdin.flush()
    delivered = float(process.stdout.readline())
    process.communicate()
    timer.cancel()
    place.sync()
    steps = answer["steps"]
    lost, doubled = lost_and_doubled(
        tracker, {f"m/{number}": steps for number in range(WIDTH)}
    )
    lines = [f"line {step}" for step in range(steps)]
    stored = tracker.texts("said")
    dropped = dropped_points(tracker)
    tracker.stop()
    return [
        Found(
            f"init() and {size.amount} s of {WIDTH} metrics and a line {HERTZ} times a"
            " second, then the server is started",
            [
                f"init {1_000 * answer['init']:.0f} ms",
                f"the longest step's calls {1_000 * answer['longest']:.1f} ms",
                f"{steps * WIDTH:,} points, {lost} lost; delivered {delivered:.1f} s after"
                " the server came",
            ],
            [
                at_most("init()", answer["init"], 1, "s"),
                none_of("exit codes other than 0", int(process.returncode != 0)),
                none_of("lost points", lost),
                none_of("dropped", dropped),
                none_of("lost lines", len(set(lines) - set(stored))),
                none_of("doubled", doubled + len(stored) - len(set(stored))),
            ],
        )
    ]


def _unused_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port
