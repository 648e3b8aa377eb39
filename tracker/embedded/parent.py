"""Ties a process to its parent, so that killing the parent leaves no orphans."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
import time

PR_SET_PDEATHSIG = 1
# Where the kernel does not support this, the interval of checks for the parent.
LOOK_SECONDS = 1.0


def die_with(parent_id: int) -> None:
    """End this process, and the program it execs, when its parent ends.

    On Linux, the kernel watches the parent's *thread* that started this process:
    children must be started in a thread that outlives them.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    else:
        threading.Thread(target=watch, args=(parent_id,), daemon=True).start()
    # The parent may have died before the call.
    if os.getppid() != parent_id:
        os.kill(os.getpid(), signal.SIGKILL)


def watch(parent_id: int) -> None:
    while os.getppid() == parent_id:
        time.sleep(LOOK_SECONDS)
    os.kill(os.getpid(), signal.SIGKILL)
