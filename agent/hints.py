"""What people are told to type."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from seamark.lifecycle.bounded_io import within

# A folder of the PATH may lie on the file system that this is about, which hangs.
_LOOK_SECONDS = 0.1


def command_line(arguments: str) -> str:
    """Return the command line that runs `seamark` with these arguments on this machine.

    Where the command is not installed, for example in a checkout, that is
    `python -m seamark`.
    """
    try:
        is_installed = within(_LOOK_SECONDS, _is_installed)
    except (OSError, ValueError):
        is_installed = False
    name = Path(sys.executable or "python").name
    return f"seamark {arguments}" if is_installed else f"{name} -m seamark {arguments}"


def _is_installed() -> bool:
    """Whether the command is there, beside the interpreter or on the PATH."""
    folders = [Path(folder) for folder in os.get_exec_path()]
    if sys.executable:
        folders.insert(0, Path(sys.executable).parent)
    commands = [folder / "seamark" for folder in folders]
    return any(each.is_file() and os.access(each, os.X_OK) for each in commands)
