"""A blocking C library of a driver does not block the interpreter or the script."""

from __future__ import annotations

import shutil
import subprocess
import sys

import pytest

COMPILER = shutil.which("cc")
LIBRARY = r"""
#include <string.h>
#include <unistd.h>
int nvmlInitWithFlags(unsigned flags) { return 0; }
int nvmlDeviceGetCount_v2(unsigned *count) { *count = 1; return 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **gpu) { *gpu = (void *)1; return 0; }
int nvmlDeviceGetUUID(void *gpu, char *text, unsigned size) { strcpy(text, "GPU-1"); return 0; }
int nvmlDeviceGetUtilizationRates(void *gpu, unsigned *rates) {
  write(2, "asked\n", 6);
  sleep(60);
  return 0;
}
"""
SCRIPT = """
import sys, time
import agent
run = agent.init("r", mode="offline")
began = last = time.monotonic()
longest = 0.0
while last < began + 4:
    run["x"].append(1.0)
    time.sleep(0.001)
    now = time.monotonic()
    longest, last = max(longest, now - last), now
began = time.monotonic()
run.finish()
print(longest, time.monotonic() - began)
"""

pytestmark = pytest.mark.skipif(
    COMPILER is None or sys.platform != "linux", reason="there is no C compiler"
)


def test_a_library_that_blocks_holds_up_neither_the_script_nor_its_end(
    tmp_path, run_script
):
    assert COMPILER is not None
    source = tmp_path / "nvml.c"
    source.write_text(LIBRARY)
    target = tmp_path / "libnvidia-ml.so.1"
    subprocess.run(
        [COMPILER, "-w", "-shared", "-fPIC", "-o", target, source], check=True
    )

    done = run_script(SCRIPT, LD_LIBRARY_PATH=str(tmp_path))

    assert done.returncode == 0, done.stderr
    longest, end = map(float, done.stdout.split())
    assert "asked" in done.stderr
    # Far less than the driver takes, and far more than a busy machine does.
    assert longest < 3
    assert end < 10
