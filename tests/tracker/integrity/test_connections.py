"""PostgreSQL's limits are compared with the maximum number of Seamark's connections."""

from __future__ import annotations

import pytest
from django.conf import settings
from django.core.management.base import CommandError
from django.db import DatabaseError, connection

from tracker.integrity import connections
from tracker.integrity.connections import (
    OTHER_CONNECTIONS,
    Capacity,
    capacity_problems,
    read_capacity,
    remedy,
    shortage,
)
from tracker.integrity.problem import Severity
from tracker.management.commands import serve

DEFAULT = Capacity(most=100, reserved=3)


def test_the_default_settings_fit_the_default_limit():
    numbers = {"web_processes": settings.WEB_PROCESSES, "each": 12}

    assert shortage(DEFAULT, **numbers) is None
    assert list(capacity_problems(DEFAULT, **numbers)) == []


def test_the_default_limit_is_enough_for_three_web_servers_of_two_processes():
    assert shortage(DEFAULT, web_processes=6, each=12) is None
    assert shortage(DEFAULT, web_processes=7, each=12) is not None


def test_too_few_connections_are_reported_with_both_settings():
    reason = shortage(DEFAULT, web_processes=8, each=12)
    advice = remedy(DEFAULT, web_processes=8, each=12)

    needed = 8 * 12 + OTHER_CONNECTIONS
    assert "allows 97 connections" in reason
    assert f"{needed} may be needed" in reason
    assert f"max_connections to {needed + 3}" in advice
    assert "SEAMARK_DATABASE_CONNECTIONS to 10" in advice
    assert "SEAMARK_WEB_PROCESSES" in advice


def test_no_pool_size_is_proposed_that_settings_reject():
    assert "SEAMARK_DATABASE_CONNECTIONS" not in remedy(
        DEFAULT, web_processes=20, each=12
    )


@pytest.mark.parametrize("limit", [{"role_limit": 20}, {"database_limit": 20}])
def test_the_limits_of_the_role_and_the_database_count(limit):
    capacity = Capacity(most=100, reserved=3, **limit)

    assert capacity.available == 20


def test_doctor_warns_of_a_superuser_and_of_too_few_connections():
    capacity = Capacity(most=20, reserved=3, is_superuser=True)

    found = capacity_problems(capacity, web_processes=2, each=12)

    assert {problem.code: problem.severity for problem in found} == {
        "postgresql-connections": Severity.WARNING,
        "postgresql-superuser": Severity.WARNING,
    }


def test_serve_refuses_to_start_without_enough_connections(monkeypatch):
    monkeypatch.setattr(serve, "read_capacity", lambda: DEFAULT)

    with pytest.raises(CommandError, match="max_connections to 115"):
        serve.check_connections(8)


def test_serve_starts_while_the_database_is_away(monkeypatch):
    def fail():
        raise DatabaseError("connection refused")

    monkeypatch.setattr(serve, "read_capacity", fail)

    serve.check_connections(8)


@pytest.mark.django_db
@pytest.mark.database
@pytest.mark.postgresql
def test_postgresql_reports_its_limits():
    if connection.vendor != "postgresql":
        pytest.skip("about PostgreSQL")

    capacity = read_capacity()

    assert capacity is not None
    assert 0 < capacity.available < capacity.most


@pytest.mark.django_db
@pytest.mark.database
@pytest.mark.postgresql
def test_limits_behind_a_pooler_are_not_judged(monkeypatch):
    if connection.vendor != "postgresql":
        pytest.skip("about PostgreSQL")
    other_id = connections.CAPACITY.replace("pg_backend_pid()", "1")
    monkeypatch.setattr(connections, "CAPACITY", other_id)

    assert read_capacity() is None
