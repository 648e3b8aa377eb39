"""Determines the exit code of a script that ends by sys.exit, exit or quit.

Python does not expose it. The exceptions of these functions carry a mark. If the mark
is deleted while no Python code runs, the interpreter itself dropped the exception: it
was not caught, and the process ends with its code. The mark of a caught exception is
deleted while the code that caught it runs, and is ignored. See
docs/decisions/capture.md.
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
# The outermost function of a script, and of a module run by name.
_OUTERMOST = ("<module>", "_run_module_as_main")
_found: object = _NOTHING
_original = sys.exit
_is_observing = False
# The type of `exit` and `quit`, unless Python runs without `site` or another program,
# such as IPython, has replaced them.
_Quitter: Any = type(getattr(builtins, "exit", None))
if _Quitter.__module__ != "_sitebuiltins":
    _Quitter = None
_quitter_call = _Quitter and _Quitter.__call__


def observe() -> None:
    """Make sys.exit, exit and quit mark their exceptions; idempotent."""
    global _original, _is_observing
    if not _is_observing:
        _is_observing, _original = True, sys.exit
        update_wrapper(_exit, _original)
        sys.exit = _exit
    if _Quitter and _Quitter.__call__ is _quitter_call:
        _Quitter.__call__ = _quit


def forget() -> None:
    """Restore the original functions, unless other code has replaced them since."""
    global _is_observing
    if sys.exit is _exit:
        sys.exit, _is_observing = _original, False
    if _Quitter and _Quitter.__call__ is _quit:
        _Quitter.__call__ = _quitter_call


def found() -> object:
    """Return the exit code that one of the functions set; None if there is none."""
    return None if _found is _NOTHING else _found


class _Mark:
    """Deleted together with the exception that holds it."""

    __slots__ = ("_code",)

    def __init__(self, code: object) -> None:
        self._code = code

    # Bound as a default: at interpreter shutdown module globals are gone.
    def __del__(self, caller: Callable[[], FrameType] = _frame) -> None:
        global _found  # noqa: PLW0603 - the exit code belongs to the process
        # The mark of the last exception is deleted first, then those of its causes.
        if caller().f_back is None and _found is _NOTHING:
            _found = self._code

    def __reduce__(self) -> tuple[type, tuple[()]]:
        # An exception may be pickled to another process, where a mark has no meaning.
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
    # In another thread it ends only that thread; in an atexit function, only that call.
    if threading.current_thread() is threading.main_thread() and _is_in_script():
        vars(leaving)["_seamark"] = _Mark(leaving.code)


# At import: `sys.exit(main())` looks up sys.exit before main() calls init().
observe()
