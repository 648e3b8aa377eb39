"""Many clients never use up PostgreSQL's connections, and leave none behind."""

from __future__ import annotations

import pytest
from django.conf import settings

from benchmarks.connections import MINIMUM, PROCESSES_EACH, WEB_SERVERS, measure
from tracker.server import processes

CONNECTIONS = processes.MIN_DATABASE_CONNECTIONS


@pytest.mark.processes
@pytest.mark.postgresql
@pytest.mark.timeout(600)
@pytest.mark.skipif(settings.IS_SQLITE, reason="about PostgreSQL")
def test_sixty_clients_share_a_small_pool_and_connections_close_afterwards():
    figures = measure(clients=60, seconds=5, connections=CONNECTIONS)

    web_processes = WEB_SERVERS * PROCESSES_EACH
    assert figures.refused_connections == 0
    assert figures.most_connections <= CONNECTIONS * (web_processes + 1)
    assert figures.connections_idle <= MINIMUM
