"""Which file Python was told to run, asked while it runs.

Python forgets it as soon as the script's last line is done, and the script may change
the working directory. Nothing is read from the disk: this is asked by init() itself.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path

_NOTEBOOKS = {"ZMQInteractiveShell": "jupyter", "Shell": "colab"}


@dataclass(frozen=True)
class Script:
    """What is known of the program at the beginning."""

    path: Path | None  # of its file; None where there is none
    folder: Path | None  # the working directory; None if it is gone
    module: str | None = None  # of `python -m`
    notebook: str | None = None  # the kind of notebook it is a part of


def find_script(*, is_watching: bool = False) -> Script:
    """Return what this process runs; of one that watches another, only where."""
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
    # Whoever runs in one has loaded this.
    ipython = sys.modules.get("IPython")
    shell = getattr(ipython, "get_ipython", lambda: None)()
    if shell is None:
        return None
    if "google.colab" in sys.modules:
        return "colab"
    return _NOTEBOOKS.get(type(shell).__name__)
