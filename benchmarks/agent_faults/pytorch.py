"""Where PyTorch is: in this environment, in that of the frameworks' tests, or nowhere."""

from __future__ import annotations

import importlib.util
import subprocess
import sys

from benchmarks.agent_faults.case import Bound, Found
from tracker.server.processes import ROOT

# Created by `python3 manage.py test --frameworks`.
FRAMEWORKS = ROOT / ".venv-frameworks/bin/python"
WHY = "PyTorch is not installed: python3 manage.py test --frameworks installs it"


def python_with_torch() -> str | None:
    """Return a Python that has PyTorch, if there is one."""
    if importlib.util.find_spec("torch"):
        return sys.executable
    return str(FRAMEWORKS) if FRAMEWORKS.exists() else None


def finds_gpu(python: str) -> bool:
    """Return whether this Python's PyTorch finds a GPU."""
    code = "import sys, torch; sys.exit(not torch.cuda.is_available())"
    asked = subprocess.run([python, "-W", "ignore", "-c", code], check=False)
    return not asked.returncode


def without_torch(done: str) -> Found:
    """Return a row for a case that needs PyTorch, if it is missing."""
    return Found(done, [WHY], [Bound("needs PyTorch", None)])
