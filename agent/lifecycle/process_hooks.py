"""What happens to open runs when the process ends, fails or forks.

Signals are left alone: a training script has its own plans for SIGTERM.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import sys
import traceback
from types import FrameType, TracebackType
from typing import Protocol

from seamark.lifecycle import exit_code
from seamark.lifecycle.background import importing
from seamark.settings import Mode, Settings

# The last lines say what went wrong, so the front is what is cut.
_LONGEST_FAILURE = 20_000  # characters
# Modules that run what is typed: that of code.interact(), and Python's own since 3.13.
_CONSOLES = ("code", "_pyrepl.main")

Identity = tuple[str, str, str, int]


class OpenRun(Protocol):
    """What the hooks know of a run."""

    settings: Settings

    def end(self, failure: str | None = None, *, share: float = 1.0) -> None:
        """Finish, because the process ends; `failure` says what is wrong with that.

        The run has that share of the time that the end may take.
        """

    def note_exception(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Remember why the process will end."""

    def start_anew_in_child(self) -> None:
        """Let go of everything that belongs to the parent process."""


# In the order of their opening. Two may have the same names: handles of one run that
# were unpickled before either logged.
_open_runs: list[OpenRun] = []
# Whom init() returns for these names.
_named: dict[Identity, OpenRun] = {}
_previous_excepthook = sys.excepthook
_is_installed = False


def identity(settings: Settings) -> Identity:
    """Return what makes two calls of init() mean the same run."""
    return settings.project, settings.run, settings.stage, settings.rank


def find_open_run(settings: Settings) -> OpenRun | None:
    """Return the run of this process with these names."""
    return _named.get(identity(settings))


def claim_names(run: OpenRun) -> OpenRun:
    """Return the run that has these names in this process: this one, if there is none."""
    # In one step, as several threads may begin at once.
    return _named.setdefault(identity(run.settings), run)


def open_runs() -> list[OpenRun]:
    """Return the open runs of this process, in the order of their opening."""
    return [*_open_runs]


def add_open_run(run: OpenRun) -> None:
    """Have the run finished when the process ends."""
    if run.settings.mode is not Mode.DISABLED:
        _install()
    claim_names(run)
    _open_runs.append(run)


def remove_open_run(run: OpenRun) -> None:
    """The run is finished."""
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
    """Return an exception's traceback as text that can be sent."""
    return described("".join(traceback.format_exception(kind, error, trace)))


def described(failure: object) -> str:
    """Return what somebody said of a failure as text that can be sent."""
    try:
        text = str(failure)
    except Exception:  # noqa: BLE001 - foreign code
        text = f"a {type(failure).__name__}"
    # Imported here: few processes fail.
    with importing():
        from seamark.capture.texts import redacted_end  # noqa: PLC0415
    text = redacted_end(text, without_secrets, _LONGEST_FAILURE).rstrip()
    return text.encode("utf-8", "replace").decode()


def without_secrets(text: str) -> str:
    """Return the text without what this process knows as secrets."""
    # Imported here: `import agent` stays light.
    with importing():
        from seamark.redaction import make_redactor  # noqa: PLC0415
    return make_redactor()(text)


def in_flight(earlier: BaseException | None) -> BaseException | None:
    """Return what is on its way out while a child of multiprocessing ends.

    `earlier` is what was handled when the run began: the parent's, if it forked then.
    """
    error = sys.exc_info()[1]
    if error is None or error is earlier or is_orderly_exit(error):
        return None
    return error


def is_orderly_exit(error: BaseException) -> bool:
    """Whether it only ends a generator, or the program and says that all went well."""
    if isinstance(error, SystemExit):
        return error.code in (None, 0)
    return isinstance(error, GeneratorExit)


def _install() -> None:
    global _is_installed, _previous_excepthook  # noqa: PLW0603 - hooks are the process's
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
    """Whether people type lines, or will, of which an error ends one and no program."""
    # `python -i`, which goes on after a script that failed.
    if sys.flags.interactive:
        return True
    frame: FrameType | None = sys._getframe()  # noqa: SLF001 - documented
    while frame is not None:
        if frame.f_globals.get("__name__") in _CONSOLES:
            return True
        frame = frame.f_back
    # Before 3.13 Python's own is in no frame. A script's is what code.interact() left.
    return hasattr(sys, "ps1") and not hasattr(sys.modules.get("__main__"), "__file__")


def _end_all() -> None:
    failure = _failure_of(exit_code.found())
    ending = open_runs()
    for run in ending:
        # One that needs less leaves the rest unused: there is seldom more than one.
        run.end(failure, share=1 / len(ending))


def _failure_of(code: object) -> str | None:
    """Say what an exit code says, as Python understands it: a text stands for 1."""
    # Of a larger number, systems see the last eight bits.
    if code is None or (isinstance(code, int) and code & 0xFF == 0):
        return None
    if isinstance(code, int):
        return f"The program ended with exit code {int(code)}."
    return f"The program ended with exit code 1: {described(code)}"


def _start_anew_in_child() -> None:
    for run in open_runs():
        # Whatever is wrong with one, the others must not write for the parent.
        with contextlib.suppress(Exception):
            run.start_anew_in_child()
