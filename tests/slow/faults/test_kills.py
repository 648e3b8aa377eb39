"""Repeated kill -9: acknowledged data is stored exactly once, and no other data.

The same cases run for much longer with `python -m benchmarks.kills`.
"""

from __future__ import annotations

import pytest

from benchmarks.kills import cases, scripts
from benchmarks.kills.case import SEED, SQLITE

pytestmark = [pytest.mark.processes, pytest.mark.timeout(600)]


def assert_kept(result, *, happened=("stored", "points")):
    """Assert that no guarantee was violated, and that there was data to check."""
    assert result.passed, f"seed {SEED}: {result.figure}"
    assert all(result.figure[name] for name in happened), result.figure


@pytest.mark.postgresql
def test_a_killed_web_server_loses_and_doubles_nothing(installation, size):
    assert_kept(cases.kill_webs(installation, size(5, clients=4)))


@pytest.mark.postgresql
def test_a_worker_killed_while_it_compacts_loses_and_doubles_nothing(
    installation, size
):
    assert_kept(cases.kill_worker(installation, size(2)))


@pytest.mark.postgresql
def test_readers_never_see_less_than_before_while_all_kinds_of_things_fail(
    installation, size
):
    result = cases.make_fail(installation, size(3))

    assert_kept(result, happened=("stored", "readings"))


@pytest.mark.postgresql
def test_a_killed_script_loses_nothing_of_which_it_said_that_it_was_logged(
    installation, size
):
    assert_kept(scripts.kill_scripts(installation, size(2)), happened=("points",))


def test_the_whole_tree_killed_loses_and_doubles_nothing(size):
    assert_kept(cases.tree_killed(size(1), SQLITE))


@pytest.mark.postgresql
def test_a_database_stopped_at_once_loses_and_doubles_nothing(
    database, installation, size
):
    if database.server is None:
        pytest.skip("speaks about PostgreSQL only")
    assert_kept(cases.stop_database(installation, database.server, size(2)))
