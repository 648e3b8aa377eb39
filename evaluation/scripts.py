"""Records scripts that belong to no part: programs with a fix, and examples of rules.

They need PyTorch and scikit-learn. `chrt -r 5` keeps other programs off the cores.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from evaluation.record import run_script
from evaluation.recordings import ENDING, write_recording

MODE = "alone"
FIXED = ("--fixed",)


@dataclass(frozen=True, slots=True)
class Script:
    """A script, or its fixed version; one that `fails` has an error on purpose."""

    path: Path
    arguments: tuple[str, ...] = ()
    fails: bool = False
    hangs: bool = False

    @property
    def name(self) -> str:
        return self.path.stem + ("-fixed" if self.arguments == FIXED else "")

    @property
    def recording(self) -> Path:
        return self.path.parent / "recordings" / f"{self.name}-{MODE}{ENDING}"


def record(scripts: Iterable[Script], python: str) -> None:
    """Run each script with the agent offline, and keep its upload data."""
    for script in scripts:
        print(
            f"{script.name}: {_recorded(script, python)}", file=sys.stderr, flush=True
        )


def _recorded(script: Script, python: str) -> str:
    try:
        made = run_script(script, MODE, python)
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        return f"failed: {error}"
    size = write_recording(made, script.recording.parent)
    return f"{size:,} bytes, others used {made.foreign_cores} cores"
