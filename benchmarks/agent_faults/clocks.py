"""CF-23: the machine's clock jumps while a script logs: its C library says another time."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from benchmarks.agent_faults.case import Found, Size, at_most, none_of, not_shown
from benchmarks.agent_faults.scripts import Place, answer_of, lost_and_doubled
from tests.agent.tracker_double import TrackerDouble

# Reads anew at each call how many seconds the clock is off, or at which it stands. The
# monotonic clock is the true one, as on a machine whose clock is set.
CLOCK = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
int clock_gettime(clockid_t clock, struct timespec *now) {
    int (*told)(clockid_t, struct timespec *) = dlsym(RTLD_NEXT, "clock_gettime");
    int result = told(clock, now);
    const char *path = getenv("CLOCK_FILE");
    if (clock != CLOCK_REALTIME || !path) return result;
    FILE *file = fopen(path, "r");
    long long offset = 0, stands = 0;
    if (!file) return result;
    if (fscanf(file, "%lld %lld", &offset, &stands) == 2) {
        now->tv_sec = stands ? stands : now->tv_sec + offset;
        if (stands) now->tv_nsec = 0;
    }
    fclose(file);
    return result;
}
"""
# Seconds off, and where it stands if it does.
JUMPS = {
    "a day ahead": "86400 0",
    "a day back": "-86400 0",
    "an hour back, as where summer time is done by hand": "-3600 0",
    "behind the year 2038": "2000000000 0",
    "nowhere: it stands still": "0 1800000000",
}
JUMPING = """
import json, os, sys, time
import agent
place = os.environ["CLOCK_FILE"]
run = agent.init("r", monitor=False)
count, slowest, said = 0, 0.0, set()
for offset in (None, sys.argv[1], "0 0", sys.argv[1]):
    if offset:
        with open(place + "~", "w") as file: file.write(offset)
        os.rename(place + "~", place)
    said.add(int(time.time()) // 600)
    for _ in range(300):
        run["a"].append(count, step=count)
        count += 1
        time.sleep(0.001)
    began = time.monotonic()
    while not (run._session.is_all_written and run._session._sender.is_everything_sent):
        if time.monotonic() > began + 30: break
        time.sleep(0.01)
    slowest = max(slowest, time.monotonic() - began)
run.finish(30)
print(json.dumps({"count": count, "slowest": slowest, "jumped": len(said) > 1}))
"""


def library(folder: Path) -> Path | None:
    """Build what stands before the C library; None where nothing can be built."""
    if not shutil.which("gcc"):
        return None
    folder.mkdir(parents=True, exist_ok=True)
    built = folder / "clock.so"
    (folder / "clock.c").write_text(CLOCK)
    command = ["gcc", "-shared", "-fPIC", "-o", str(built), str(folder / "clock.c")]
    done = subprocess.run([*command, "-ldl"], check=False, timeout=60)
    return None if done.returncode else built


def jumps(size: Size) -> list[Found]:
    return [jump(words, size) for words in JUMPS]


def jump(words: str, size: Size) -> Found:
    """Let the clock jump, back, and again, while a script logs."""
    done = f"the clock jumps {words}; {size.amount} times"
    built = library(size.folder)
    if built is None:
        return not_shown(done, "there is no compiler")
    lost = doubled = disordered = left = 0
    slowest = 0.0
    for number in range(size.amount):
        tracker = TrackerDouble()
        place = Place(size.folder / f"{len(words)}-{number}", tracker.url)
        clock = place.folder / "clock"
        clock.write_text("0 0")
        answer = answer_of(
            place.perform(
                JUMPING, JUMPS[words], LD_PRELOAD=str(built), CLOCK_FILE=str(clock)
            )
        )
        assert answer["jumped"], "the clock did not jump"
        slowest = max(slowest, answer["slowest"])
        found = lost_and_doubled(tracker, {"a": answer["count"]})
        lost, doubled = lost + found[0], doubled + found[1]
        steps = tracker.steps("a")
        disordered += steps != sorted(steps)
        left += [m["state"] for m in tracker.of_kind("close")] != ["finished"]
        tracker.stop()
    return Found(
        done,
        [f"{slowest:.1f} s at most until the tracker had what was logged before"],
        [
            none_of("lost", lost),
            none_of("doubled", doubled),
            none_of("out of order", disordered),
            none_of("not finished", left),
            at_most("delivery", slowest, 5, "s"),
        ],
    )
