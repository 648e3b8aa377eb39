"""Determines the file that Python runs, while it runs.

Python forgets it after the script's last line, and the script may change the working
directory. Reads nothing from the disk, because init() calls it.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path

_NOTEBOOKS = {"ZMQInteractiveShell": "jupyter", "Shell": "colab"}


@dataclass(frozen=True)
class Script:
    """The program as found at the start."""

    path: Path | None  # of the script; None if there is none
    folder: Path | None  # the working directory; None if it is deleted
    module: str | None = None  # of `python -m`
    notebook: str | None = None  # the kind of notebook, if any


def find_script(*, is_watching: bool = False) -> Script:
    """Return the script of this process; only its folder if it watches another process."""
    main = None if is_watching else sys.modules.get("__main__")
    named = getattr(main, "__file__", None)
    module = getattr(getattr(main, "__spec__", None), "name", None)
    notebook = _find_notebook()
    try:
        folder = Path.cwd()
    except OSError:
        folder = None
    path = None
    if isinstance(named, str) and notebook is None:
        path = Path(os.path.normpath((folder or Path("/")) / named))
    return Script(path, folder, module if isinstance(module, str) else None, notebook)


def _find_notebook() -> str | None:
    # A process in a shell has imported it.
    ipython = sys.modules.get("IPython")
    shell = getattr(ipython, "get_ipython", lambda: None)()
    if shell is None:
        return None
    if "google.colab" in sys.modules:
        return "colab"
    return _NOTEBOOKS.get(type(shell).__name__)
