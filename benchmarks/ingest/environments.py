"""Makes the virtual environment that a peer runs in, once."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from tracker.server.processes import ROOT

PEERS_FOLDER = Path.home() / ".cache/seamark-peers"
REQUIREMENTS = ROOT / "benchmarks/ingest/requirements-peers.txt"
INSTALL_SECONDS = 900
# Contains the requirements that an environment was made with.
STAMP = "seamark-requirements.txt"


class NotInstalled(Exception):
    """A peer's environment could not be made; the message has the reason."""


def read_requirements(text: str) -> dict[str, list[str]]:
    """Return the packages of each environment."""
    packages: dict[str, list[str]] = {}
    for line in text.splitlines():
        if heading := re.fullmatch(r"# ([a-z]+):", line):
            packages[heading[1]] = []
        elif line and not line.startswith("#"):
            packages[list(packages)[-1]].append(line)
    return packages


def prepared_python(name: str, folder: Path) -> str:
    """Return the environment's interpreter, after making it if need be."""
    wanted = "\n".join(read_requirements(REQUIREMENTS.read_text())[name])
    environment = folder / name
    python = environment / "bin/python"
    stamp = environment / STAMP
    if stamp.exists() and stamp.read_text() == wanted:
        return str(python)
    try:
        _run([sys.executable, "-m", "venv", str(environment)])
        _run([str(python), "-m", "pip", "install", "--quiet", *wanted.splitlines()])
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NotInstalled(str(error)) from error
    stamp.write_text(wanted)
    return str(python)


def _run(command: list[str]) -> None:
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=INSTALL_SECONDS, check=False
    )
    if done.returncode:
        words = (done.stderr or done.stdout).strip().splitlines()
        reason = next((line for line in words if line.startswith("ERROR")), words[-1])
        raise NotInstalled(reason)
