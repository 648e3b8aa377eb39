from dataclasses import replace

import pytest

from benchmarks.growth.derivation import (
    READERS_SHARE,
    UTILISATION,
    Carried,
    Costs,
    Layout,
    Machine,
    Memory,
    Rank,
    answers_per_second,
    best,
    carried,
    processes,
)

COSTS = Costs(
    web=2.0, worker=1.0, database=1.0, sent_bytes=4, logged_bytes=10, kept_bytes=5
)
MEMORY = Memory(web=100, worker=200, database=1_000, connection=10)
# Nothing but cores is scarce.
MACHINE = Machine(
    cores=16,
    memory_bytes=1e9,
    disk_bytes=1e12,
    disk_bytes_per_second=1e12,
    network_bytes_per_second=1e12,
)
# Of a core.
PLANNED = UTILISATION * (1 - READERS_SHARE)


def busy_cores(found: Carried, costs: Costs) -> float:
    every = costs.web + costs.worker + costs.database
    return found.points_per_second * every / 1e6


def test_one_machine_spends_what_is_planned_of_its_cores():
    found = carried(COSTS, MEMORY, Layout(1), MACHINE)

    assert found.bound == "cores"
    assert busy_cores(found, COSTS) == pytest.approx(16 * PLANNED)


def test_sqlite_ends_with_one_core_however_many_there_are():
    single = Layout(1, is_single=True)
    costs = replace(COSTS, database=0.0)

    found = carried(costs, MEMORY, single, MACHINE)

    assert found.bound == "the web process"
    assert found.points_per_second == pytest.approx(1e6 * PLANNED / 2)
    assert found == carried(costs, MEMORY, single, replace(MACHINE, cores=64))
    assert (found.web_processes, found.workers, found.connections) == (1, 1, 0)


def test_sqlite_may_end_with_its_worker():
    costs = replace(COSTS, worker=20.0, database=0.0)

    found = carried(costs, MEMORY, Layout(1, is_single=True), MACHINE)

    assert found.bound == "the worker"
    assert found.points_per_second == pytest.approx(1e6 * PLANNED / 20)


def test_many_machines_have_as_many_databases_as_their_share_of_the_work():
    # A quarter of each point is the database's.
    found = best(COSTS, MEMORY, 100, MACHINE)

    assert found.layout.database_machines == 25
    assert busy_cores(found, COSTS) == pytest.approx(1_600 * PLANNED)


def test_with_few_machines_one_side_waits_for_the_other():
    found = best(COSTS, MEMORY, 10, MACHINE)

    assert found.layout.database_machines == 3
    assert found.bound == "other cores"
    assert busy_cores(found, COSTS) < 160 * PLANNED


def test_a_machine_that_holds_no_database_adds_no_disk():
    one = carried(COSTS, MEMORY, Layout(1), MACHINE)
    ten = best(COSTS, MEMORY, 10, MACHINE)

    assert ten.held_points == pytest.approx(3 * one.held_points)


@pytest.mark.parametrize(
    ("change", "bound", "rate"),
    [
        # A log of 10 bytes a point is written twice.
        ({"disk_bytes_per_second": 1_000.0}, "writing to disk", 1_000 / 2 / 20),
        ({"network_bytes_per_second": 1_400.0}, "network", 1_400 / 2 / 14),
    ],
)
def test_what_is_scarce_ends_it(change, bound, rate):
    found = carried(COSTS, MEMORY, Layout(1), replace(MACHINE, **change))

    assert found.bound == bound
    assert found.points_per_second == pytest.approx(rate)


def test_a_disk_is_full_after_what_it_holds_has_come():
    found = carried(COSTS, MEMORY, Layout(1), MACHINE)

    assert found.held_points == pytest.approx(0.8 * 1e12 / 5)
    assert found.month_bytes == pytest.approx(found.points_per_second * 5 * 86_400 * 30)
    assert found.days_until_full * found.points_per_second * 86_400 == pytest.approx(
        found.held_points
    )


def test_processes_are_as_busy_as_planned_and_never_none():
    assert processes(0.0) == 1
    assert processes(1.0) == 2
    assert processes(1.01) == 3


def test_memory_is_that_of_all_processes_and_their_connections():
    found = carried(COSTS, MEMORY, Layout(1), MACHINE)

    # 7.2 cores: half of them web, a quarter workers.
    assert (found.web_processes, found.workers) == (8, 4)
    assert found.connections == 8 * 8 + 4 * 2
    assert found.memory_bytes == 8 * 100 + 4 * 200 + 1_000 + 72 * 10


def test_ranks_are_whole():
    rank = Rank(
        metrics=20, steps_per_second=10, readings_per_second=100, batches_per_second=2
    )
    found = replace(carried(COSTS, MEMORY, Layout(1), MACHINE), points_per_second=999.0)

    assert rank.points_per_second == 300
    assert rank.readings_share == pytest.approx(1 / 3)
    assert found.ranks(rank) == 3


def test_readers_have_what_is_left_to_them():
    assert answers_per_second(0.01, MACHINE) == pytest.approx(
        16 * UTILISATION * READERS_SHARE / 0.01
    )
