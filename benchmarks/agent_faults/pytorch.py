"""Where PyTorch is: in this environment, in that of the frameworks' tests, or nowhere."""

from __future__ import annotations

import importlib.util
import subprocess
import sys

from benchmarks.agent_faults.case import Bound, Found
from tracker.server.processes import ROOT

# What `python3 manage.py test --frameworks` makes.
FRAMEWORKS = ROOT / ".venv-frameworks/bin/python"
WHY = "PyTorch is not installed: python3 manage.py test --frameworks installs it"


def python_with_torch() -> str | None:
    """Return a Python that has PyTorch, if there is one."""
    if importlib.util.find_spec("torch"):
        return sys.executable
    return str(FRAMEWORKS) if FRAMEWORKS.exists() else None


def finds_gpu(python: str) -> bool:
    """Ask a Python that has PyTorch whether that finds a GPU."""
    code = "import sys, torch; sys.exit(not torch.cuda.is_available())"
    asked = subprocess.run([python, "-W", "ignore", "-c", code], check=False)
    return not asked.returncode


def without_torch(done: str) -> Found:
    """A line for what takes PyTorch, where it is not."""
    return Found(done, [WHY], [Bound("needs PyTorch", None)])
