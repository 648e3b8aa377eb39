"""Warnings name the agent, also without logging configuration."""

from __future__ import annotations

import subprocess
import sys

import pytest

WARN = "from seamark.user_warnings import Notices; Notices().warn('disk', 'the disk is full')"


@pytest.mark.parametrize(
    ("setup", "expected"),
    [
        ("", "seamark: the disk is full"),
        (
            "import logging; logging.basicConfig(); ",
            "WARNING:seamark:the disk is full",
        ),
    ],
    ids=["without logging", "with logging"],
)
def test_a_warning_says_whose_it_is(setup, expected):
    printed = subprocess.run(
        [sys.executable, "-c", setup + WARN], capture_output=True, text=True, check=True
    )

    assert printed.stderr.strip() == expected
