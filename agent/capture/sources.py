"""Sources captured once, at the start. A new source is one file and one line here."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from seamark.capture.facts import Facts
from seamark.capture.script import Script
from seamark.lifecycle.background import importing


def make_sources(script: Script) -> dict[str, tuple[str, Callable[[], Facts]]]:
    """Return the sources by name, each with its path prefix."""
    # Imported here, in the capture thread, so that init() does not wait.
    with importing():
        from seamark.capture import (  # noqa: PLC0415
            environment,
            git,
            host,
            packages,
            source,
        )
    return {
        "source": ("source", partial(source.facts, script)),
        "host": ("facts", host.facts),
        "environment": ("environment", environment.facts),
        "git": ("git", partial(git.facts, script)),
        "packages": ("packages", packages.facts),
    }
