"""Keeps calls of a GPU driver's library apart from forks.

Such a library locks a mutex during each call. A child that is forked meanwhile inherits
it locked, and waits forever in its own first call, for example when PyTorch counts the
GPUs.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from functools import partial
from types import FunctionType
from typing import Any

# A fork does not wait longer for a call; the driver may hang.
_LONGEST_SECONDS = 0.5


class _Caller:
    """A thread that calls the driver."""

    def __init__(self) -> None:
        self.calling = threading.Lock()
        self.began = 0.0  # time.monotonic() of its last call


_callers: dict[int, _Caller] = {}  # by thread
# Held during a fork, which a thread waits for before its first call. Re-entrant, because
# a signal handler that forks may interrupt either.
_forking = threading.RLock()
_held_off: list[_Caller] = []


class DriverLibrary:
    """A module with functions that call a driver, none of them during a fork."""

    # Any: the library is loaded only if it is installed, and has no types.
    def __init__(self, module: Any, prefix: str) -> None:
        """`prefix` begins the names of functions that call the driver."""
        self._module, self._prefix = module, prefix

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._module, name)
        if name.startswith(self._prefix) and isinstance(found, FunctionType):
            return partial(call, found)
        return found


# Any: the functions have no types.
def call(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function of a driver's library; forks wait for its end."""
    caller = _callers.get(threading.get_ident())
    if caller is None:
        with _forking:
            caller = _callers[threading.get_ident()] = _Caller()
    caller.began = time.monotonic()
    with caller.calling:
        return function(*arguments)


def hold_off() -> None:
    """Wait for the end of calls, before a fork."""
    _forking.acquire()
    for thread, caller in [*_callers.items()]:
        left = caller.began + _LONGEST_SECONDS - time.monotonic()
        # A signal handler may fork within a call of this thread.
        if thread != threading.get_ident() and caller.calling.acquire(
            timeout=max(0.0, left)
        ):
            _held_off.append(caller)


def go_on() -> None:
    """Allow calls after a fork, in the parent."""
    while _held_off:
        _held_off.pop().calling.release()
    _forking.release()


def begin_child() -> None:
    """Allow calls in a forked child."""
    _held_off.clear()
    _callers.clear()
    _forking.release()
