"""Orders by several columns: each one breaks the ties of the previous ones."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from tests.tracker.queries.ledgers import add_ledger
from tracker.errors import InvalidInput
from tracker.models import Attribute, Kind, Run, Stage, State
from tracker.queries.runs.filter.filters import RunFilter, read_query
from tracker.queries.runs.order import COLUMNS, read_order
from tracker.queries.runs.table import runs_in_order, runs_page

pytestmark = [pytest.mark.django_db, pytest.mark.database, pytest.mark.postgresql]

NOW = timezone.now()


def add_run(project, name, *, minutes=0, **values) -> Run:
    run = Run.objects.create(
        project=project,
        name=name,
        state=State.FINISHED,
        started_at=NOW + timedelta(minutes=minutes),
    )
    Stage.objects.create(run=run, name="train")
    for path, value in values.items():
        column = "text" if isinstance(value, str) else "number"
        Attribute.objects.create(
            run=run,
            project=project,
            path=path,
            kind=Kind.STRING if column == "text" else Kind.FLOAT,
            **{column: value},
        )
    return run


def names(project, *sorts, offset=0, limit=100, query="") -> list[str]:
    page = runs_page(
        project.id,
        wanted=RunFilter(query=read_query(query)),
        order=read_order(sorts),
        keys=[],
        offset=offset,
        limit=limit,
    )
    return [row.name for row in page.rows]


def test_a_second_column_decides_between_equal_runs(project):
    for name, optimizer, loss in [
        ("a", "adam", 0.3),
        ("b", "sgd", 0.1),
        ("c", "adam", 0.2),
        ("d", "sgd", 0.4),
    ]:
        add_run(project, name, optimizer=optimizer, loss=loss)

    assert names(project, "path:optimizer", "path:loss") == ["c", "a", "b", "d"]
    assert names(project, "path:optimizer", "-path:loss") == ["a", "c", "d", "b"]
    assert names(project, "-path:optimizer", "path:loss") == ["b", "d", "c", "a"]


def test_runs_without_the_second_value_come_last_in_both_directions(project):
    add_run(project, "a", lr=1.0, loss=0.3)
    add_run(project, "b", lr=1.0)
    add_run(project, "c", lr=1.0, loss=0.1)

    assert names(project, "path:lr", "path:loss") == ["c", "a", "b"]
    assert names(project, "path:lr", "-path:loss") == ["a", "c", "b"]


def test_ties_decide_among_runs_without_the_first_value_too(project):
    add_run(project, "a", loss=0.3)
    add_run(project, "b", loss=0.1)
    add_run(project, "c", lr=1.0, loss=0.2)

    assert names(project, "path:lr", "path:loss") == ["c", "b", "a"]


def test_a_column_of_the_run_decides_and_is_decided(project):
    for name, minutes, lr in [("b", 2, 1.0), ("a", 1, 1.0), ("c", 0, 2.0)]:
        add_run(project, name, minutes=minutes, lr=lr)

    assert names(project, "path:lr", "name") == ["a", "b", "c"]
    assert names(project, "state", "-path:lr", "-started") == ["c", "b", "a"]


@pytest.mark.parametrize("key", COLUMNS)
def test_any_column_decides_and_is_decided(project, key):
    for number in range(3):
        add_ledger(add_run(project, f"r{number}", lr=1.0), computing=number + 1.0)

    for order in ([key, "-path:lr"], ["path:lr", f"-{key}"], [key, "gpu", "tags"]):
        assert sorted(names(project, *order)) == ["r0", "r1", "r2"]


def test_pages_of_tied_runs_follow_on_each_other(project):
    for number in range(10):
        add_run(project, f"r{number}", lr=number % 2, loss=number % 3)
    order = ("path:lr", "-path:loss")

    whole = names(project, *order)
    parts = [names(project, *order, offset=low, limit=3) for low in (0, 3, 6, 9)]

    assert [name for part in parts for name in part] == whole
    assert len(set(whole)) == 10


def test_a_filter_leaves_the_order_as_it_is(project):
    for number in range(6):
        add_run(project, f"r{number}", lr=number % 2, loss=-number)

    found = names(project, "path:lr", "path:loss", query="loss < -1")

    assert found == ["r4", "r2", "r5", "r3"]


def test_all_ids_come_in_the_same_order(project):
    runs = {add_run(project, f"r{n}", lr=n % 2, loss=n).id: f"r{n}" for n in range(6)}
    order = read_order(["path:lr", "-path:loss"])

    found = runs_in_order(project.id, wanted=RunFilter(), order=order, limit=4)

    assert [runs[run_id] for run_id in found] == names(
        project, "path:lr", "-path:loss"
    )[:4]


def test_a_column_counts_once_and_there_are_only_so_many():
    assert str(read_order(["name", "-name", "", "-started"])) == "name,-started"
    assert str(read_order([])) == "-started"
    with pytest.raises(InvalidInput):
        read_order(["name", "state", "started", "ended", "created"])
