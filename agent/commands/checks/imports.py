"""Checks that `import agent` finds the SDK."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.machinery import PathFinder
from pathlib import Path

import seamark
from seamark.commands.checks.results import Finding, fine, note
from seamark.servers import Environment

_SDK = Path(seamark.__file__)


def look_at_import(environment: Environment) -> Iterator[Finding]:
    """Report a module of the current folder that hides the SDK."""
    del environment
    other = _other_module()
    if other is None:
        yield fine("module", "`import agent` finds the SDK from this folder")
    else:
        yield note(
            "module",
            f"`import agent` finds {other} from this folder, not the SDK",
            "write `import seamark as agent` in scripts of this folder",
        )


def _other_module() -> Path | None:
    """Return the current folder's own module `agent`, if it has one."""
    try:
        folder = str(Path.cwd())
        found = PathFinder.find_spec("agent", [folder])
        # Python skips a folder without an __init__.py.
        if found is None or found.origin is None:
            return None
        # The two packages of the SDK are in the same folder.
        is_library = Path(found.origin).parents[1].samefile(_SDK.parents[1])
    except (OSError, ImportError):
        return None
    return None if is_library else Path(found.origin)
