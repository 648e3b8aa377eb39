"""The few lines that a run prints for its user, on the standard error stream."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path

from seamark.hints import command_line
from seamark.settings import Mode, Settings


def write_line(line: str) -> None:
    with contextlib.suppress(OSError, ValueError, AttributeError):
        # The stream may be closed or absent.
        sys.stderr.write(line)


def pending_line(settings: Settings, folder: Path, *, is_written: bool) -> str:
    """Return the line that explains an incomplete run; the exit code is unchanged."""
    lost = "" if is_written else " (incompletely written)"
    by_hand = f"`{command_line(f'sync --spool {folder.parent}')}`"
    if settings.mode is Mode.OFFLINE:
        return f"seamark: run {settings.run!a} is stored{lost} in {folder} until {by_hand}\n"
    sender = f"the next agent.init() on this machine or by `{command_line('sync')}`"
    if folder.parent != settings.spool:
        sender = by_hand
    return (
        f"seamark: run {settings.run!a} is not completely delivered; the rest is"
        f" stored{lost} in {folder} and delivered by {sender}\n"
    )
