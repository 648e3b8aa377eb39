"""Learns the code that a script ends with by sys.exit, exit or quit.

Python tells it nobody. What these raise gets a mark. A mark that goes away while nothing of Python's is
running was dropped by the interpreter itself: nobody caught the exception, and the
process ends with its code. One that is caught goes away while the code runs that
caught it, and means nothing.

docs/decisions/capture.md says why it is so.
"""

from __future__ import annotations

import builtins
import sys
import threading
from collections.abc import Callable
from functools import update_wrapper
from types import FrameType
from typing import Any, NoReturn

_frame = sys._getframe  # noqa: SLF001 - documented, and as old as sys
_NOTHING = object()
# What runs a script, and what runs a module by its name.
_OUTERMOST = ("<module>", "_run_module_as_main")
_found: object = _NOTHING
_original = sys.exit
_is_observing = False
# What `exit` and `quit` are, where Python has been started with them and nobody, as
# IPython does, has put others in their place.
_Quitter: Any = type(getattr(builtins, "exit", None))
if _Quitter.__module__ != "_sitebuiltins":
    _Quitter = None
_quitter_call = _Quitter and _Quitter.__call__


def observe() -> None:
    """Have sys.exit, exit and quit mark what they raise, if they do not yet."""
    global _original, _is_observing
    if not _is_observing:
        _is_observing, _original = True, sys.exit
        update_wrapper(_exit, _original)
        sys.exit = _exit
    if _Quitter and _Quitter.__call__ is _quitter_call:
        _Quitter.__call__ = _quit


def forget() -> None:
    """Leave all as it was, unless somebody else has changed it since."""
    global _is_observing
    if sys.exit is _exit:
        sys.exit, _is_observing = _original, False
    if _Quitter and _Quitter.__call__ is _quit:
        _Quitter.__call__ = _quitter_call


def found() -> object:
    """Return the code that the process ends with, if one of them said so; else None."""
    return None if _found is _NOTHING else _found


class _Mark:
    """Goes away with the exception that it hangs on."""

    __slots__ = ("_code",)

    def __init__(self, code: object) -> None:
        self._code = code

    # What it needs is bound here: at the very end modules lose their names.
    def __del__(self, caller: Callable[[], FrameType] = _frame) -> None:
        global _found  # noqa: PLW0603 - it is the process's
        # The first to go is that of the last exception; those it came from follow.
        if caller().f_back is None and _found is _NOTHING:
            _found = self._code

    def __reduce__(self) -> tuple[type, tuple[()]]:
        # An exception may travel to another process, and its copy means nothing there.
        return object, ()


def _is_in_script() -> bool:
    frame = _frame()
    while frame.f_back is not None:
        frame = frame.f_back
    return frame.f_code.co_name in _OUTERMOST


def _exit(status: str | int | None = None, /) -> NoReturn:
    try:
        _original(status)
    except SystemExit as leaving:
        _mark(leaving)
        raise


def _quit(self: object, code: object = None) -> None:
    try:
        _quitter_call(self, code)
    except SystemExit as leaving:
        _mark(leaving)
        raise


def _mark(leaving: SystemExit) -> None:
    # In another thread it ends that thread alone, and where Python calls back at its end
    # that call alone.
    if threading.current_thread() is threading.main_thread() and _is_in_script():
        vars(leaving)["_seamark"] = _Mark(leaving.code)


# From the import on: `sys.exit(main())` looks it up before main() calls init().
observe()
