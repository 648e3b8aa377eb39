"""A pseudo-terminal with a small shell that reports the state of its job."""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import signal
import struct
import subprocess
import sys
import termios
import time

from tests.agent.conftest import REPOSITORY

CTRL_C, CTRL_Z = b"\x03", b"\x1a"
# Like a shell: run a job in the foreground, and continue it after a stop.
_SHELL = """
import fcntl, os, signal, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
signal.signal(signal.SIGTTOU, signal.SIG_IGN)
job = os.fork()
if not job:
    os.setpgid(0, 0)
    os.tcsetpgrp(0, os.getpid())
    signal.signal(signal.SIGTTOU, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.execv(sys.argv[1], sys.argv[1:])
signal.signal(signal.SIGINT, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
while True:
    _, status = os.waitpid(job, os.WUNTRACED)
    if not os.WIFSTOPPED(status):
        break
    os.tcsetpgrp(0, os.getpgrp())
    os.write(1, b"<stopped>")
    signal.sigwait({signal.SIGUSR1})
    os.tcsetpgrp(0, job)
    os.killpg(job, signal.SIGCONT)
os.tcsetpgrp(0, os.getpgrp())
os.write(1, b"<ended %d>" % os.waitstatus_to_exitcode(status))
"""


class Terminal:
    """The user's side of a terminal."""

    def __init__(self, rows: int = 24, columns: int = 80) -> None:
        self.main, self.other = os.openpty()
        self._ends = [self.main, self.other]
        self.shown = bytearray()
        self.shell: subprocess.Popen[bytes] | None = None
        self.resize(rows, columns)
        self.modes = termios.tcgetattr(self.other)

    def resize(self, rows: int, columns: int) -> None:
        size = struct.pack("HHHH", rows, columns, 0, 0)
        fcntl.ioctl(self.main, termios.TIOCSWINSZ, size)

    def start(
        self, *command: str, folder: object, **streams: object
    ) -> subprocess.Popen[bytes]:
        """Start a command in the foreground of the shell."""
        streams = {"stdout": self.other, "stderr": self.other, **streams}
        self.shell = subprocess.Popen(
            [sys.executable, "-c", _SHELL, *command],
            env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
            cwd=folder,
            stdin=self.other,
            start_new_session=True,
            **streams,
        )
        return self.shell

    def continue_job(self) -> None:
        """Do what `fg` does; typed, the job could read a part of the line on gVisor."""
        assert self.shell is not None
        self.shell.send_signal(signal.SIGUSR1)

    def type(self, keys: bytes) -> None:
        os.write(self.main, keys)

    def wait_for(self, words: bytes, seconds: float = 60.0) -> bytes:
        """Return all that was shown when the words are among it."""
        deadline = time.monotonic() + seconds
        looked = 0
        while self.shown.find(words, looked) < 0:
            assert time.monotonic() < deadline, self.shown
            looked = max(0, len(self.shown) - len(words))
            if select.select([self.main], [], [], 0.05)[0]:
                self.shown += os.read(self.main, 65_536)
        return bytes(self.shown)

    def hang_up(self) -> None:
        """Take the terminal away, as a connection that breaks does."""
        ends, self._ends = self._ends, []
        for end in ends:
            os.close(end)

    def close(self) -> None:
        if self.shell is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.shell.pid, 9)
            self.shell.wait()
        self.hang_up()
