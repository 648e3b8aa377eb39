"""The Pythons that the agent promises to run on, and those of them that are here."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

VERSIONS = ("3.10", "3.11", "3.12", "3.13", "3.14")
# Of now, before a test has a home of its own.
PYENV = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")


def find_python(version: str) -> str | None:
    """Return a program that is this Python, if there is one here."""
    if version == ".".join(map(str, sys.version_info[:2])):
        return sys.executable
    named = f"python{version}"
    builds = sorted(PYENV.glob(f"versions/{version}.*/bin/{named}"))
    places = [*map(str, builds), named]
    for place in places:
        program = shutil.which(place)
        # A shim of pyenv is there for every version, and fails for most.
        if program and not subprocess.run([program, "-c", ""], check=False).returncode:
            return program
    return None


def missing_pythons() -> list[str]:
    """Return the versions that are promised and cannot be tried here."""
    return [version for version in VERSIONS if find_python(version) is None]
