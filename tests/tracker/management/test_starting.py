"""Checks before processes start, and waits for their dependencies."""

from __future__ import annotations

import socket

import pytest
from django.core.management import call_command
from django.db import OperationalError, connection
from django.db.migrations.recorder import MigrationRecorder

from tests.services import free_port
from tracker.embedded.ports import refuse_used_port
from tracker.embedded.refusal import Refusal
from tracker.management import starting
from tracker.management.commands import doctor, scheduler, serve, worker

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture
def newer_database(db):
    MigrationRecorder(connection).record_applied("tracker", "9999_newer")


@pytest.fixture
def started(monkeypatch):
    """Collect the programs that commands would execute; none of them runs."""
    programs = []
    for module in (serve, worker, scheduler):
        monkeypatch.setattr(module.os, "execv", lambda _p, args: programs.append(args))
    return programs


@pytest.mark.parametrize("command", ["serve", "worker", "scheduler"])
def test_a_process_starts_on_a_database_of_its_version(command, started, settings):
    settings.PORT = free_port()

    call_command(command)

    assert len(started) == 1


@pytest.mark.parametrize(
    "command", ["serve", "worker", "scheduler", "migrate", "prepare"]
)
def test_a_process_refuses_a_database_that_newer_code_has_migrated(
    command, newer_database, started, settings
):
    settings.PORT = free_port()

    with pytest.raises(Refusal, match=r"lacks tracker\.9999_newer") as refusal:
        call_command(command)

    assert started == []
    assert "\n" not in str(refusal.value)


def test_doctor_refuses_a_database_that_newer_code_has_migrated(newer_database, capsys):
    with pytest.raises(SystemExit) as end:
        call_command(doctor.Command())

    assert end.value.code == 2
    assert "tracker.9999_newer" in capsys.readouterr().err


def test_migrations_of_other_programs_in_the_same_database_are_ignored():
    MigrationRecorder(connection).record_applied("another_program", "0001_initial")

    starting.refuse_newer_database()


class Reconnecting:
    """A stand-in for the connection, which has the test's transaction."""

    def close(self):
        pass


def test_a_worker_waits_for_the_database_and_its_migrations(
    started, monkeypatch, capsys
):
    states = iter([OperationalError(), False, True])

    def has_current_schema():
        state = next(states)
        if isinstance(state, Exception):
            raise state
        return state

    monkeypatch.setattr(starting, "has_current_schema", has_current_schema)
    monkeypatch.setattr(starting, "RETRY_SECONDS", 0)
    monkeypatch.setattr(starting, "connection", Reconnecting())

    call_command("worker")

    assert len(started) == 1
    assert capsys.readouterr().err.count("Waiting for the database") == 1


def test_the_web_server_starts_without_the_database(started, monkeypatch, settings):
    def away():
        raise OperationalError

    settings.PORT = free_port()
    monkeypatch.setattr(starting, "unknown_migrations", away)

    call_command("serve")

    assert len(started) == 1


@pytest.mark.parametrize("address", ["127.0.0.1", "0.0.0.0", "::1", "::"])
def test_a_port_that_another_server_shares_gladly_is_refused(
    address, started, settings
):
    settings.BIND = "127.0.0.1" if "." in address else "::1"
    family = socket.AF_INET if "." in address else socket.AF_INET6
    with socket.socket(family) as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        other.bind((address, 0))
        other.listen()
        settings.PORT = other.getsockname()[1]

        with pytest.raises(Refusal, match=f"Port {settings.PORT} of .* --port"):
            call_command("serve")

    assert started == []
    refuse_used_port(settings.BIND, settings.PORT)
