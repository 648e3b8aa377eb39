"""Installs Debian packages that tests need, if possible."""

from __future__ import annotations

import os
import shutil
import subprocess


def install(package: str) -> bool:
    """Install a package; needs root and apt."""
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
            ["install", "--yes", "--quiet", "--no-install-recommends", package],
        )
    )
