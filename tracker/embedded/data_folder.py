"""The lock of a data folder, which allows one server and stores its URL."""

from __future__ import annotations

import fcntl
import json
import os
from pathlib import Path

from tracker.embedded.refusal import Refusal

LOCK_NAME = "server.lock"


class DataFolder:
    """Locked from acquire() until release(), or until the process ends."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._descriptor: int | None = None

    def acquire(self, url: str) -> None:
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(self.path / LOCK_NAME, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise Refusal(
                f"The data folder {self.path} cannot be written ({error.strerror}); "
                "choose another with --data."
            ) from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            os.close(descriptor)
            raise Refusal(
                f"A server is already running on {self.path}; "
                "stop it, or choose another folder with --data."
            ) from error
        os.ftruncate(descriptor, 0)
        os.write(descriptor, json.dumps({"process": os.getpid(), "url": url}).encode())
        self._descriptor = descriptor

    def release(self) -> None:
        if self._descriptor is not None:
            os.ftruncate(self._descriptor, 0)
            os.close(self._descriptor)
            self._descriptor = None


def running_url(path: Path) -> str | None:
    """Return the URL of the server running on this data folder, if any."""
    try:
        with (path / LOCK_NAME).open("rb") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                url: str = json.load(lock)["url"]
                return url
    except (OSError, ValueError):
        # No such file, or the server is starting and has not written it yet.
        return None
    return None
