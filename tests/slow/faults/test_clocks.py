"""The machine's clock jumps while a script logs, simulated below the C library.

Once only the wall clock, as if an administrator sets it; once the monotonic clock too,
as with libfaketime and after suspend.
"""

from __future__ import annotations

import shutil
import subprocess

import pytest

from tests.slow.faults.place import Place, answer_of, lost_and_doubled

pytestmark = [pytest.mark.processes, pytest.mark.timeout(600)]

# Each call reads the clock's offset, or the time at which it is frozen. Absolute waits on
# a simulated clock are converted to relative ones, because the kernel knows only the
# real clock.
CLOCK = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
typedef struct timespec Moment;
static int true_clock(clockid_t clock, Moment *now) {
    static int (*told)(clockid_t, Moment *);
    if (!told) told = dlsym(RTLD_NEXT, "clock_gettime");
    return told(clock, now);
}
static int is_made_up(clockid_t clock) {
    if (!getenv("CLOCK_FILE")) return 0;
    return clock == CLOCK_REALTIME || (clock == CLOCK_MONOTONIC && getenv("CLOCK_BOTH"));
}
int clock_gettime(clockid_t clock, Moment *now) {
    int result = true_clock(clock, now);
    if (!is_made_up(clock)) return result;
    FILE *file = fopen(getenv("CLOCK_FILE"), "r");
    long long offset = 0, stands = 0;
    if (!file) return result;
    if (fscanf(file, "%lld %lld", &offset, &stands) == 2) {
        now->tv_sec = stands ? stands : now->tv_sec + offset;
        if (stands) now->tv_nsec = 0;
    }
    fclose(file);
    return result;
}
static Moment until(clockid_t clock, const Moment *end) {
    Moment said, real;
    if (!is_made_up(clock)) return *end;
    clock_gettime(clock, &said);
    true_clock(clock, &real);
    long long left = (end->tv_sec - said.tv_sec) * 1000000000LL + end->tv_nsec - said.tv_nsec;
    if (left < 0) left = 0;
    left += real.tv_nsec;
    real.tv_sec += left / 1000000000LL;
    real.tv_nsec = left % 1000000000LL;
    return real;
}
int clock_nanosleep(clockid_t clock, int flags, const Moment *end, Moment *left) {
    int (*told)(clockid_t, int, const Moment *, Moment *) = dlsym(RTLD_NEXT, "clock_nanosleep");
    if (!(flags & TIMER_ABSTIME)) return told(clock, flags, end, left);
    Moment real = until(clock, end);
    return told(clock, flags, &real, left);
}
int sem_clockwait(sem_t *lock, clockid_t clock, const Moment *end) {
    int (*told)(sem_t *, clockid_t, const Moment *) = dlsym(RTLD_NEXT, "sem_clockwait");
    Moment real = until(clock, end);
    return told(lock, clock, &real);
}
int sem_timedwait(sem_t *lock, const Moment *end) {
    int (*told)(sem_t *, const Moment *) = dlsym(RTLD_NEXT, "sem_timedwait");
    Moment real = until(CLOCK_REALTIME, end);
    return told(lock, &real);
}
/* Python's conditions are of the monotonic clock. */
int pthread_cond_timedwait(pthread_cond_t *changed, pthread_mutex_t *lock, const Moment *end) {
    static int (*told)(pthread_cond_t *, pthread_mutex_t *, const Moment *);
    if (!told) told = dlvsym(RTLD_NEXT, "pthread_cond_timedwait", "GLIBC_2.3.2");
    if (!told) told = dlsym(RTLD_NEXT, "pthread_cond_timedwait");
    Moment real = until(CLOCK_MONOTONIC, end);
    return told(changed, lock, &real);
}
"""
# Offset in seconds, or the time at which the clock is frozen: at the start, and after
# every three hundred points.
Offsets = tuple[str, str, str, str]


def _there_and_back(offset: str) -> Offsets:
    return "0 0", offset, "0 0", offset


def _always(offset: str) -> Offsets:
    return offset, offset, offset, offset


JUMPS: dict[str, Offsets] = {
    "a day ahead": _there_and_back("86400 0"),
    "a day back": _there_and_back("-86400 0"),
    "an hour back": (_there_and_back("-3600 0")),
    "behind 2038": _there_and_back("2000000000 0"),
    "stands still": _there_and_back("0 1800000000"),
}
# A monotonic clock never goes back or stops. Programs must tolerate an offset and jumps
# ahead.
JUMPS_OF_BOTH: dict[str, Offsets] = {
    "both a day ahead": (*("0 0", "86400 0", "172800 0", "259200 0"),),
    "both a day behind": _always("-86400 0"),
    "both behind 2038": _always("2000000000 0"),
}
# Less than any jump, and more than a script takes.
MIN_JUMP_SECONDS = 1_800
JUMPING = """
import json, os, sys, time
import agent
place = os.environ["CLOCK_FILE"]
run = agent.init("r", monitor=False)
count, said = 0, []
def true_time(): return time.clock_gettime(time.CLOCK_BOOTTIME)
for offset in sys.argv[1:]:
    with open(place + "~", "w") as file: file.write(offset)
    os.rename(place + "~", place)
    said.append((time.time(), time.monotonic()))
    for _ in range(300):
        run["a"].append(count, step=count)
        count += 1
        time.sleep(0.001)
    began = true_time()
    while not (run._session.is_all_written and run._session._sender.is_everything_sent):
        if true_time() > began + 30: break
        time.sleep(0.01)
run.finish(30)
spans = [max(clock) - min(clock) for clock in zip(*said)]
print(json.dumps({"count": count, "spans": spans}))
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """Build the library that simulates the clock."""
    if not shutil.which("gcc"):
        pytest.skip("there is no compiler")
    folder = tmp_path_factory.mktemp("clock")
    built = folder / "clock.so"
    (folder / "clock.c").write_text(CLOCK)
    command = ["gcc", "-shared", "-fPIC", "-o", str(built), str(folder / "clock.c")]
    subprocess.run([*command, "-ldl"], check=True, timeout=60)
    return built


@pytest.mark.parametrize("words", [*JUMPS, *JUMPS_OF_BOTH])
def test_clock_jumps_lose_and_disorder_nothing(tmp_path, tracker, library, words):
    of_both = words in JUMPS_OF_BOTH
    offsets = JUMPS_OF_BOTH[words] if of_both else JUMPS[words]
    place = Place(tmp_path / "place", tracker.url)
    clock = place.folder / "clock"
    clock.write_text(offsets[0])
    variables = {"LD_PRELOAD": str(library), "CLOCK_FILE": str(clock)}
    if of_both:
        variables["CLOCK_BOTH"] = "yes"

    answer = answer_of(place.perform(JUMPING, *offsets, **variables))

    jumped = len(set(offsets)) > 1
    wall, monotonic = (span > MIN_JUMP_SECONDS for span in answer["spans"])
    assert (wall, monotonic) == (jumped, jumped and of_both), "the clock did not jump"
    steps = tracker.steps("a")
    assert lost_and_doubled(tracker, {"a": answer["count"]}) == (0, 0)
    assert steps == sorted(steps)
    assert tracker.states() == ["finished"]
