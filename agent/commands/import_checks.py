"""Whether `import agent` means the library."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.machinery import PathFinder
from pathlib import Path

import agent
from agent.commands.checks import Finding, fine, note
from agent.servers import Environment


def look_at_import(environment: Environment) -> Iterator[Finding]:
    """Look whether scripts of the current folder would import a module of their own."""
    del environment
    other = _other_module()
    if other is None:
        yield fine("module", "scripts in this folder import the library as `agent`")
    else:
        yield note(
            "module",
            f"scripts in this folder import {other} as `agent`, not the library",
            "rename it: Python looks into the script's own folder first",
        )


def _other_module() -> Path | None:
    """Return what is found as `agent` in the current folder, unless it is the library."""
    try:
        folder = str(Path.cwd())
        found = PathFinder.find_spec("agent", [folder])
        # A folder without an __init__.py is passed over for the library.
        if found is None or found.origin is None:
            return None
        is_library = Path(found.origin).samefile(agent.__file__)
    except (OSError, ImportError):
        return None
    return None if is_library else Path(found.origin)
