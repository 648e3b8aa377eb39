"""A PostgreSQL and a Valkey that can be killed and restarted with their data."""

from __future__ import annotations

import signal

from tests.services import PostgreSQL, Server, Valkey

WAIT_SECONDS = 60.0
# Given last, these override the fast, unsafe settings of the tests' PostgreSQL.
DURABLE = ("fsync=on", "synchronous_commit=on", "full_page_writes=on")


class Restartable(Server):
    _command: list[str]
    _user: str | None

    def launch(self, command: list[str], *, user: str | None = None) -> None:
        self._command, self._user = command, user
        super().launch(command, user=user)

    def end(self, number: int) -> None:
        """Send the signal and wait until all its processes have ended."""
        assert self.process is not None
        self.process.send_signal(number)
        self.process.wait(WAIT_SECONDS)

    def start_again(self) -> None:
        # From the main thread only: it ends when the thread that started it does.
        self.launch(self._command, user=self._user)
        self.wait_until(self.answers)

    def answers(self) -> bool:
        raise NotImplementedError


class DurablePostgreSQL(PostgreSQL, Restartable):
    def launch(self, command: list[str], *, user: str | None = None) -> None:
        options = [part for option in DURABLE for part in ("-c", option)]
        already = command[-len(options) :] == options
        Restartable.launch(self, command if already else command + options, user=user)

    def stop_immediately(self) -> None:
        """Stop it as `pg_ctl stop -m immediate` does: it has to recover at its start."""
        self.end(signal.SIGQUIT)


class RestartableValkey(Valkey, Restartable):
    def kill(self) -> None:
        """Kill it; without persistence, all messages are lost."""
        self.end(signal.SIGKILL)
