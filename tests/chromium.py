"""Finds a browser for the tests that need one, or installs Debian's."""

from __future__ import annotations

import os
import shutil
import subprocess

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find_chromium() -> str | None:
    """Return the browser that $CHROME names, or one of the usual names on the path."""
    chosen = os.environ.get("CHROME")
    return (
        shutil.which(chosen)
        if chosen
        else next(filter(None, map(shutil.which, NAMES)), None)
    )


def install_chromium() -> bool:
    """Install Debian's package; only root can, and only where there is apt."""
    apt = shutil.which("apt-get")
    if apt is None or os.geteuid() != 0:
        return False
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    return all(
        subprocess.run(
            [apt, *arguments], env=environment, capture_output=True, check=False
        ).returncode
        == 0
        for arguments in (
            ["update", "--quiet"],
            ["install", "--yes", "--quiet", "--no-install-recommends", "chromium"],
        )
    )
