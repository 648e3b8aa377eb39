"""A C library of a driver that locks a mutex: forks during calls, and the end of a run."""

from __future__ import annotations

import shutil
import subprocess
import sys

import pytest

COMPILER = shutil.which("cc")
# Like the driver's library: one mutex for all calls, and memory that is freed unchecked.
LIBRARY = r"""
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pid_t process;
volatile int milliseconds_within;
static void enter(void) {
  if (process && process != getpid()) write(2, "called in a child\n", 18);
  pthread_mutex_lock(&mutex);
}
static int leave(int result) { pthread_mutex_unlock(&mutex); return result; }
static void work(unsigned milliseconds) {
  milliseconds_within = milliseconds;
  usleep(1000 * milliseconds);
  milliseconds_within = 0;
}
int nvmlInitWithFlags(unsigned flags) { enter(); process = getpid(); return leave(0); }
int nvmlDeviceGetCount_v2(unsigned *count) { enter(); *count = 1; return leave(0); }
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **gpu) {
  enter(); *gpu = (void *)1; return leave(0);
}
int nvmlDeviceGetUUID(void *gpu, char *text, unsigned size) {
  enter(); strcpy(text, "GPU-1"); return leave(0);
}
int nvmlDeviceGetUtilizationRates(void *gpu, unsigned *rates) {
  enter(); work(atoi(getenv("CALL_MILLISECONDS"))); return leave(0);
}
int nvmlEventSetCreate(void **set) { enter(); *set = malloc(64); return leave(0); }
int nvmlEventSetFree(void *set) { enter(); free(set); return leave(0); }
int nvmlDeviceGetSupportedEventTypes(void *gpu, unsigned long long *types) {
  enter(); *types = 8; return leave(0);
}
int nvmlDeviceRegisterEvents(void *gpu, unsigned long long types, void *set) {
  enter(); return leave(0);
}
int nvmlEventSetWait_v2(void *set, void *event, unsigned milliseconds) {
  enter(); work(milliseconds); return leave(10);
}
int nvmlGpmQueryDeviceSupport(void *gpu, unsigned *support) {
  enter(); support[1] = 1; return leave(0);
}
int nvmlGpmSampleAlloc(void **sample) { enter(); *sample = malloc(64); return leave(0); }
int nvmlGpmSampleFree(void *sample) { enter(); free(sample); return leave(0); }
int nvmlGpmSampleGet(void *gpu, void *sample) { enter(); memset(sample, 1, 64); return leave(0); }
int nvmlGpmMetricsGet(void *metrics) { enter(); return leave(0); }
"""

pytestmark = [
    pytest.mark.skipif(
        COMPILER is None or sys.platform != "linux", reason="there is no C compiler"
    ),
    pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning"),
]


@pytest.fixture
def folder(tmp_path):
    assert COMPILER is not None
    source = tmp_path / "nvml.c"
    source.write_text(LIBRARY)
    target = tmp_path / "libnvidia-ml.so.1"
    subprocess.run(
        [COMPILER, "-w", "-shared", "-fPIC", "-o", target, source], check=True
    )
    return tmp_path


@pytest.fixture
def perform(folder, run_script):
    def perform(script, *, milliseconds=100):
        return run_script(
            script,
            LD_LIBRARY_PATH=str(folder),
            CALL_MILLISECONDS=str(milliseconds),
        )

    return perform


FORKS = """
import ctypes, os, signal, time, agent
library = ctypes.CDLL("libnvidia-ml.so.1")
milliseconds = ctypes.c_int.in_dll(library, "milliseconds_within")
run = agent.init("r", mode="offline", sample_seconds=0.5)
for _ in range(10):
    while not milliseconds.value:
        time.sleep(0.001)
    child = os.fork()
    if child == 0:
        signal.alarm(5)
        library.nvmlDeviceGetCount_v2(ctypes.byref(ctypes.c_uint()))
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    assert status == 0, status
    time.sleep(0.05)
run.finish()
"""


def test_a_child_that_is_forked_during_a_call_can_call_the_driver(perform):
    done = perform(FORKS)

    assert done.returncode == 0, done.stderr


WORKERS = """
import gc, multiprocessing, time, agent

def work(run, number):
    run[f"child/{number}"].append(1.0)
    gc.collect()

if __name__ == "__main__":
    run = agent.init("r", mode="offline", sample_seconds=0.5)
    context = multiprocessing.get_context("fork")
    for number in range(10):
        time.sleep(0.2)
        process = context.Process(target=work, args=(run, number))
        process.start()
        process.join()
        assert process.exitcode == 0, process.exitcode
"""


def test_children_that_log_and_end_leave_the_driver_alone(perform):
    done = perform(WORKERS)

    assert done.returncode == 0, done.stderr
    assert "called in a child" not in done.stderr


ENDS = """
import ctypes, time, agent
library = ctypes.CDLL("libnvidia-ml.so.1")
milliseconds = ctypes.c_int.in_dll(library, "milliseconds_within")
run = agent.init("r", mode="offline", sample_seconds=0.5)
while milliseconds.value < 1000:
    time.sleep(0.001)
began = time.monotonic()
run.finish()
print(time.monotonic() - began)
"""


def test_a_driver_that_begins_to_hang_does_not_hold_up_the_end(perform):
    done = perform(ENDS, milliseconds=60_000)

    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < 10
