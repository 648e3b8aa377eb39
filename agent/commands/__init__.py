"""The command line: `seamark`, or `python -m seamark`."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Sequence

from seamark.commands import (
    completion,
    doctor,
    export,
    login,
    logout,
    ls,
    overview,
    run,
    status,
    sync,
    up,
    watch,
)
from seamark.commands.importing import (
    csv_file,
    mlflow,
    neptune,
    nvidia_smi,
    tensorboard,
    trace,
    wandb,
)
from seamark.commands.output import MISUSED, Refusal, print_json_rows, tell
from seamark.commands.parsing import Command, parse
from seamark.errors import AgentError, CannotRead, InvalidSetting

# A new command is one file and one entry here.
COMMANDS: dict[str, Command] = {
    "up": up,
    "login": login,
    "logout": logout,
    "run": run,
    "watch": watch,
    "status": status,
    "sync": sync,
    "doctor": doctor,
    "ls": ls,
    "export": export,
    "import csv": csv_file,
    "import mlflow": mlflow,
    "import neptune": neptune,
    "import nvidia-smi": nvidia_smi,
    "import tensorboard": tensorboard,
    "import trace": trace,
    "import wandb": wandb,
    "completion": completion,
}
# Exit codes besides 0, 1 and those of a program; docs/commands.md lists all.
_INTERRUPTED, _READER_GONE = 130, 141


_ADVICE = {
    "not_authenticated": "Create an API key on the server's API keys page and run "
    "`seamark login`.",
    "not_allowed": "Create an API key with scope read or manage on the server's API keys page and "
    "run `seamark login`.",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return the exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    for name in ("stdin", "stdout", "stderr"):
        # A closed stream is None.
        if getattr(sys, name) is None:
            setattr(sys, name, io.StringIO())
    # Characters that the terminal cannot show are escaped.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        code = _performed(words)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return _INTERRUPTED
    except BrokenPipeError:
        _write_no_more()
        return _READER_GONE
    except OSError as error:
        # Standard output fails, so this cannot be reported as JSON.
        tell(f"cannot write output: {error.strerror}")
        _write_no_more()
        return 1
    return code


def _write_no_more() -> None:
    # Otherwise Python would report the error again at exit.
    with contextlib.suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _performed(words: Sequence[str]) -> int:
    try:
        name, chosen = parse(words, COMMANDS)
        if name is None:
            return overview.perform(chosen, COMMANDS)
        return COMMANDS[name].perform(chosen)
    except BrokenPipeError:
        raise
    except AgentError as error:
        code = MISUSED if isinstance(error, InvalidSetting) else 1
        if isinstance(error, Refusal):
            code = error.exit_code
        has_advice = error.code in _ADVICE and isinstance(error, CannotRead)
        message = f"{error} {_ADVICE[error.code]}" if has_advice else str(error)
        return _refused(words, error.code, message, code)
    except OSError as error:
        return _refused(words, "failed", str(error), 1)
    except Exception as error:
        # Broad: users see a message instead of a traceback.
        if sys.flags.dev_mode:
            raise
        return _refused(
            words,
            "unexpected",
            f"Unexpected error ({type(error).__name__}: {error}). Please report it with the "
            "traceback that `python -X dev -m seamark` shows instead of "
            "`seamark`.",
            1,
        )


def _refused(words: Sequence[str], code: str, message: str, exit_code: int) -> int:
    # Words after -- belong to the program.
    ours = words[: words.index("--")] if "--" in words else words
    if "--json" in ours:
        print_json_rows({"error": {"code": code, "message": message}})
    else:
        tell(message)
    return exit_code
