"""Hooks for open runs when the process ends, fails or forks.

Installs no signal handlers: a training script may have its own for SIGTERM.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import sys
import traceback
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Protocol

from seamark.lifecycle import exit_code
from seamark.lifecycle.background import importing
from seamark.settings import Mode, Settings

# Tracebacks are cut at the front, because the last lines name the error.
_LONGEST_FAILURE = 20_000  # characters
# Modules of interactive consoles: code.interact(), and Python's own since 3.13.
_CONSOLES = ("code", "_pyrepl.main")

Identity = tuple[str, str, str, int]


class OpenRun(Protocol):
    """The interface of a run that the hooks use."""

    settings: Settings

    def end(self, failure: str | None = None, *, share: float = 1.0) -> None:
        """Finish at process exit; `failure` is the reason if the process failed.

        `share` is the fraction of the exit timeout for this run, 0 to 1.
        """

    def note_exception(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Store the exception that will end the process."""

    def start_anew_in_child(self) -> None:
        """Release everything that belongs to the parent process."""


# In order of opening. Two may have the same names: handles of one run that were
# unpickled before either logged.
_open_runs: list[OpenRun] = []
# Open runs by identity, as returned by init().
_named: dict[Identity, OpenRun] = {}
_previous_excepthook = sys.excepthook
_is_installed = False


def identity(settings: Settings) -> Identity:
    """Return the key under which calls of init() return the same run."""
    return settings.project, settings.run, settings.stage, settings.rank


def find_open_run(settings: Settings) -> OpenRun | None:
    """Return the open run of this process with these names."""
    return _named.get(identity(settings))


def claim_names(run: OpenRun) -> OpenRun:
    """Register a run under its names; return the run that already has them, if any."""
    # Atomic, because several threads may start at once.
    return _named.setdefault(identity(run.settings), run)


def open_runs() -> list[OpenRun]:
    """Return the open runs of this process in order of opening."""
    return [*_open_runs]


def add_open_run(run: OpenRun) -> None:
    """Finish the run when the process ends."""
    if run.settings.mode is not Mode.DISABLED:
        _install()
    claim_names(run)
    _open_runs.append(run)


def remove_open_run(run: OpenRun) -> None:
    """Unregister a finished run."""
    if find_open_run(run.settings) is run:
        del _named[identity(run.settings)]
    with contextlib.suppress(ValueError):
        _open_runs.remove(run)
    if not _open_runs:
        exit_code.forget()


def describe(
    kind: type[BaseException] | None,
    error: BaseException | None,
    trace: TracebackType | None,
) -> str:
    """Return an exception's traceback as encodable text without secrets."""
    return described("".join(traceback.format_exception(kind, error, trace)))


def described(failure: object) -> str:
    """Return a failure's description as encodable text without secrets."""
    try:
        text = str(failure)
    except Exception:  # noqa: BLE001 - foreign code
        text = f"a {type(failure).__name__}"
    # Imported here, because few processes fail.
    with importing():
        from seamark.capture.texts import redacted_end  # noqa: PLC0415
    text = redacted_end(text, without_secrets, _LONGEST_FAILURE).rstrip()
    return text.encode("utf-8", "replace").decode()


def without_secrets(text: str) -> str:
    """Return the text without the secrets known to this process."""
    # Imported here to keep `import agent` light.
    with importing():
        from seamark.redaction import make_redactor  # noqa: PLC0415
    return make_redactor()(text)


def finalize_child(end: Callable[[BaseException | None], None]) -> None:
    """Call `end` at the exit of a multiprocessing child, with the exception handled now.

    Such children skip atexit functions but call finalizers.
    """
    multiprocessing = sys.modules.get("multiprocessing.util")
    process = sys.modules.get("multiprocessing.process")
    if multiprocessing and process and process.parent_process() is not None:
        multiprocessing.Finalize(None, end, args=(sys.exc_info()[1],), exitpriority=10)


def in_flight(earlier: BaseException | None) -> BaseException | None:
    """Return the exception that ends a multiprocessing child, if any.

    `earlier` is the exception that was handled when the run began, possibly the
    parent's at the fork.
    """
    error = sys.exc_info()[1]
    if error is None or error is earlier or is_orderly_exit(error):
        return None
    return error


def is_orderly_exit(error: BaseException) -> bool:
    """Return whether it ends only a generator, or the program with exit code 0."""
    if isinstance(error, SystemExit):
        return error.code in (None, 0)
    return isinstance(error, GeneratorExit)


def _install() -> None:
    global _is_installed, _previous_excepthook  # noqa: PLW0603 - hooks belong to the process
    exit_code.observe()
    if _is_installed:
        return
    _is_installed = True
    _previous_excepthook = sys.excepthook
    sys.excepthook = _note_uncaught
    atexit.register(_end_all)
    os.register_at_fork(after_in_child=_start_anew_in_child)


def _note_uncaught(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    try:
        if not _is_at_prompt():
            for run in open_runs():
                run.note_exception(kind, error, trace)
    finally:
        _previous_excepthook(kind, error, trace)


def _is_at_prompt() -> bool:
    """Return whether an interactive prompt catches errors, so that none ends the
    program.
    """
    # `python -i` continues after a script that failed.
    if sys.flags.interactive:
        return True
    frame: FrameType | None = sys._getframe()  # noqa: SLF001 - documented
    while frame is not None:
        if frame.f_globals.get("__name__") in _CONSOLES:
            return True
        frame = frame.f_back
    # Before 3.13 Python's own prompt has no frame. In a script, `sys.ps1` is left over
    # from code.interact().
    return hasattr(sys, "ps1") and not hasattr(sys.modules.get("__main__"), "__file__")


def _end_all() -> None:
    failure = _failure_of(exit_code.found())
    ending = open_runs()
    for run in ending:
        # Equal shares: there is seldom more than one run.
        run.end(failure, share=1 / len(ending))


def _failure_of(code: object) -> str | None:
    """Return the failure of an exit code; Python exits with 1 for a text."""
    # The system keeps only the last eight bits.
    if code is None or (isinstance(code, int) and code & 0xFF == 0):
        return None
    if isinstance(code, int):
        return f"The program ended with exit code {int(code)}."
    return f"The program ended with exit code 1: {described(code)}"


def _start_anew_in_child() -> None:
    for run in open_runs():
        # An error in one run must not let the others write for the parent.
        with contextlib.suppress(Exception):
            run.start_anew_in_child()
