"""Finds the descendants of a process without reading all of /proc."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import psutil

from seamark.probes.files import read_at_once, read_briefly


def descendants(pid: int) -> list[int]:
    """Return the PIDs of all live descendants."""
    found: list[int] = []
    unseen = [pid]
    while unseen:
        children = children_of(unseen.pop())
        if children is None:
            return _found_slowly(pid)
        found += children
        unseen += children
    return found


def children_of(pid: int) -> list[int] | None:
    """Return the children of all threads of a process; None if unsupported."""
    try:
        threads = [int(entry.name) for entry in Path(f"/proc/{pid}/task").iterdir()]
    except OSError:
        # A process that has ended has no children; without Linux they are unknown.
        return [] if Path("/proc/self/task").exists() else None
    children: list[int] = []
    for thread in threads:
        # Releases the GIL between the reads, so that the training can run.
        found = children_of_thread(pid, thread, read_briefly)
        if found is None:
            return None
        children += found
    return children


def children_of_thread(
    pid: int, thread: int, read: Callable[[str], bytes] = read_at_once
) -> list[int] | None:
    path = f"/proc/{pid}/task/{thread}/children"
    try:
        return [int(text) for text in read(path).split()]
    except FileNotFoundError:
        # The thread has ended, or the kernel was built without this file.
        return [] if Path(f"/proc/self/task/{os.getpid()}/children").exists() else None
    except OSError:
        return []


def _found_slowly(pid: int) -> list[int]:
    try:
        return [child.pid for child in psutil.Process(pid).children(recursive=True)]
    except psutil.Error:
        return []
