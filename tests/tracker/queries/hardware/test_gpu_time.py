from __future__ import annotations

import pytest

from tests.builders import make_run
from tests.tracker.queries.ledgers import add_ledger
from tracker.models import Run
from tracker.queries.hardware.gpu_hours import total_hours
from tracker.queries.hardware.gpu_time import gpu_times
from tracker.queries.runs.column_keys import OF_RUN
from tracker.queries.runs.filter.filters import RunFilter
from tracker.queries.runs.order import read_order
from tracker.queries.runs.table import runs_page

pytestmark = [pytest.mark.django_db, pytest.mark.database]


def names(project, *sorts) -> list[str]:
    page = runs_page(
        project.id,
        wanted=RunFilter(),
        order=read_order(sorts),
        keys=[],
        limit=100,
    )
    return [row.name for row in page.rows]


def test_says_how_long_gpus_were_held_and_how_much_of_it_was_idle(project):
    run = make_run(project)
    add_ledger(run, gpus=2, computing=5_400.0, data_wait=1_200.0, unknown=600.0)

    [found] = gpu_times([run.id]).values()

    assert found.hours == 2.0
    assert found.idle_percent == pytest.approx(100 / 6)
    assert found.energy_joules is None


def test_idle_is_when_nothing_was_computed_as_everywhere(project):
    run = make_run(project)
    add_ledger(run, computing=50.0, evaluation=30.0, lost=10.0, data_wait=10.0)

    [found] = gpu_times([run.id]).values()
    total = total_hours(project)

    assert found.idle_percent == pytest.approx(10)
    assert total is not None
    assert total.idle_share == pytest.approx(0.1)


def test_idle_time_inside_steps_counts_as_idle_and_as_wasted(project):
    run = make_run(project)
    add_ledger(run, computing=2.0, idle_in_steps=97.0, unattributed=1.0)

    total = total_hours(project)

    assert gpu_times([run.id])[run.id].idle_percent == pytest.approx(97)
    assert total is not None
    assert total.largest_waste is not None
    assert total.largest_waste.label == "idle inside steps"


def test_how_idle_gpus_were_is_unknown_where_nothing_was_measured(project):
    run = make_run(project, "unknown")
    add_ledger(run, unknown=600.0)
    add_ledger(make_run(project, "busy"), computing=500.0, evaluation=100.0)
    add_ledger(make_run(project, "idle"), computing=100.0, idle=1.0)

    assert gpu_times([run.id])[run.id].idle_percent is None
    assert names(project, "gpu_idle") == ["busy", "idle", "unknown"]
    assert names(project, "-gpu_idle") == ["idle", "busy", "unknown"]


def test_a_run_that_held_no_gpu_says_nothing(project):
    run = make_run(project)
    add_ledger(run, gpus=0, computing=100.0, energy=5.0)

    assert gpu_times([run.id]) == {}


@pytest.mark.parametrize("key", ["gpu_hours", "gpu_idle", "energy"])
def test_runs_are_sorted_by_it_and_those_without_come_last(project, key):
    for name, idle in [("b", 200.0), ("a", 100.0), ("c", 300.0)]:
        add_ledger(make_run(project, name), computing=400.0, idle=idle, energy=idle)
    make_run(project, "d")

    assert names(project, key) == ["a", "b", "c", "d"]
    assert names(project, f"-{key}") == ["c", "b", "a", "d"]


def test_unmeasured_energy_is_not_zero(project):
    add_ledger(make_run(project, "a"), computing=1.0, energy=3.0)
    add_ledger(make_run(project, "b"), computing=1.0)

    assert names(project, "energy") == ["a", "b"]
    assert names(project, "-energy") == ["a", "b"]


def test_a_row_has_the_figures(project):
    add_ledger(make_run(project), computing=3_600.0)

    page = runs_page(
        project.id, wanted=RunFilter(), order=read_order([]), keys=OF_RUN, limit=1
    )

    assert page.rows[0].numbers.gpu_hours == 1.0


def test_rows_name_the_creator_of_the_run(project, member):
    run = make_run(project)
    Run.objects.filter(id=run.id).update(made_by=member.user)

    page = runs_page(
        project.id, wanted=RunFilter(), order=read_order([]), keys=OF_RUN, limit=1
    )

    assert page.rows[0].made_by == "ada"
