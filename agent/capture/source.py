"""Which script this is, how it was started, and what it says."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path

from agent.capture.facts import Facts
from agent.redaction import redacted_arguments

# Read of a script, before secrets are taken out and it is cut to what is stored.
_LARGEST_SCRIPT = 256 * 1024  # bytes
_LONGEST_ARGUMENT = 4_096  # characters
_NOTEBOOKS = {"ZMQInteractiveShell": "jupyter", "Shell": "colab"}


def facts() -> Facts:
    """Return what is known of the program; what it has none of is absent."""
    found: Facts = {
        "arguments": shlex.join(redacted_arguments(_arguments())),
        "executable": sys.executable,
        "python": sys.version.split()[0],
    }
    folder = _working_folder()
    if folder is not None:
        found["folder"] = folder
    notebook = find_notebook()
    if notebook is not None:
        found["notebook"] = notebook
    module = _module()
    if module:
        found["module"] = module
    script = script_path()
    if script is None:
        found["absent"] = (
            "A notebook's cells are not captured."
            if notebook
            else "There is no script: Python reads its commands from elsewhere."
        )
        return found
    found["script"] = str(script)
    try:
        with script.open("rb") as file:
            found["text"] = file.read(_LARGEST_SCRIPT).decode("utf-8", "replace")
    except OSError as error:
        found["absent"] = f"The script cannot be read: {error.strerror}."
    return found


def script_path() -> Path | None:
    """Return the file that Python was told to run; None where there is none."""
    named = getattr(sys.modules.get("__main__"), "__file__", None)
    if not isinstance(named, str) or find_notebook() is not None:
        return None
    path = Path(named).absolute()
    return path if path.is_file() else None


def find_notebook() -> str | None:
    """Return the kind of notebook this process belongs to; None if to none."""
    # Whoever runs in one has loaded this.
    ipython = sys.modules.get("IPython")
    shell = getattr(ipython, "get_ipython", lambda: None)()
    if shell is None:
        return None
    if "google.colab" in sys.modules:
        return "colab"
    return _NOTEBOOKS.get(type(shell).__name__)


def _arguments() -> list[str]:
    # The interpreter's own options are among them, which sys.argv lacks.
    arguments = [*getattr(sys, "orig_argv", sys.argv)]
    # `python -c PROGRAM`: the program is text, not an argument.
    return [
        a if len(a) <= _LONGEST_ARGUMENT else f"{a[:_LONGEST_ARGUMENT]}…"
        for a in arguments
    ]


def _module() -> str | None:
    """Return the module of `python -m`, whose script lies in some package."""
    spec = getattr(sys.modules.get("__main__"), "__spec__", None)
    name = getattr(spec, "name", None)
    return name if isinstance(name, str) else None


def _working_folder() -> str | None:
    try:
        return os.getcwd()  # noqa: PTH109 - what it is called is all that is asked
    except OSError:
        return None
