"""What people are told to type."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from agent.patience import within

# A folder of the PATH may lie on the file system that this is about, which hangs.
_LOOK_SECONDS = 0.1


def command_line(arguments: str) -> str:
    """Return how the command `seamark` is called with these arguments from here.

    Where it is not installed, as from a checkout, that is `python -m agent`, which takes
    an `agent.py` of the folder it is typed in for the library.
    """
    try:
        is_installed = within(_LOOK_SECONDS, _is_installed)
    except (OSError, ValueError):
        is_installed = False
    name = Path(sys.executable or "python").name
    return f"seamark {arguments}" if is_installed else f"{name} -m agent {arguments}"


def _is_installed() -> bool:
    """Whether the command is there, beside the interpreter or on the PATH."""
    folders = [Path(folder) for folder in os.get_exec_path()]
    if sys.executable:
        folders.insert(0, Path(sys.executable).parent)
    commands = [folder / "seamark" for folder in folders]
    return any(each.is_file() and os.access(each, os.X_OK) for each in commands)
