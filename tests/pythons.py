"""The Python versions that the agent supports, and the installed ones."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

VERSIONS = ("3.10", "3.11", "3.12", "3.13", "3.14")
# Read now, before tests change the home directory.
PYENV = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")


def find_python(version: str) -> str | None:
    """Return the executable of this Python version, if installed."""
    if version == ".".join(map(str, sys.version_info[:2])):
        return sys.executable
    named = f"python{version}"
    builds = sorted(PYENV.glob(f"versions/{version}.*/bin/{named}"))
    places = [*map(str, builds), named]
    for place in places:
        program = shutil.which(place)
        # pyenv has a shim for every version, also for versions that are not installed.
        if program and not subprocess.run([program, "-c", ""], check=False).returncode:
            return program
    return None


def missing_pythons() -> list[str]:
    """Return the supported versions that are not installed."""
    return [version for version in VERSIONS if find_python(version) is None]
