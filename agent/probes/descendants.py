"""Which processes descend from another, without reading all of /proc."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import psutil

from seamark.probes.files import read_at_once, read_briefly


def descendants(pid: int) -> list[int]:
    """Return the numbers of all descendants that live."""
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
    """Children of every thread of a process; None where the kernel does not say."""
    try:
        threads = [int(entry.name) for entry in Path(f"/proc/{pid}/task").iterdir()]
    except OSError:
        # Ended: it has no children any more. Elsewhere than Linux: unknown.
        return [] if Path("/proc/self/task").exists() else None
    children: list[int] = []
    for thread in threads:
        # Many one after the other: the training may go on in between.
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
