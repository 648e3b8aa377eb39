"""Builds the command lines shown in messages to the user."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from seamark.lifecycle.bounded_io import within

# A folder of PATH may be on a network file system that hangs.
_LOOK_SECONDS = 0.1


def command_line(arguments: str) -> str:
    """Return the command line that runs `seamark` with these arguments on this machine.

    Falls back to `python -m seamark` where the command is not installed, for example in
    a checkout.
    """
    try:
        is_installed = within(_LOOK_SECONDS, _is_installed)
    except (OSError, ValueError):
        is_installed = False
    name = Path(sys.executable or "python").name
    return f"seamark {arguments}" if is_installed else f"{name} -m seamark {arguments}"


def _is_installed() -> bool:
    """Return whether the command is installed next to the interpreter or on PATH."""
    folders = [Path(folder) for folder in os.get_exec_path()]
    if sys.executable:
        folders.insert(0, Path(sys.executable).parent)
    commands = [folder / "seamark" for folder in folders]
    return any(each.is_file() and os.access(each, os.X_OK) for each in commands)
