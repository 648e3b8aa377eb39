"""Finds a browser for the tests that need one."""

from __future__ import annotations

import os
import shutil

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find_chromium() -> str | None:
    """Return the browser that $CHROME names, or one of the usual names on the path."""
    chosen = os.environ.get("CHROME")
    return (
        shutil.which(chosen)
        if chosen
        else next(filter(None, map(shutil.which, NAMES)), None)
    )
