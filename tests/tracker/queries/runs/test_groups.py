from __future__ import annotations

import math
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.builders import (
    make_run,
    write_series,
    write_tags,
    write_values,
)
from tests.tracker.queries.findings import add_finding
from tests.tracker.queries.ledgers import add_ledger
from tests.web.sample_run import settle
from tracker.actions.runs.run_summaries import TAGS, gather
from tracker.errors import InvalidInput
from tracker.models import Attribute, Run, State
from tracker.queries.run_query.parser import MAX_CHARACTERS
from tracker.queries.runs import groups as queries
from tracker.queries.runs.column_keys import NUMBERS_OF_RUN
from tracker.queries.runs.filter.filters import RunFilter, read_query
from tracker.queries.runs.groups import OTHER, RunGroup, run_groups
from tracker.queries.runs.order import RunOrder
from tracker.queries.runs.table import runs_page

pytestmark = [pytest.mark.django_db, pytest.mark.database, pytest.mark.postgresql]

OPTIMIZER = "path:params/optimizer"


def add_run(project, name, **values) -> Run:
    run = make_run(project, name, State.FINISHED)
    write_values(
        run, {path.replace("__", "/"): value for path, value in values.items()}
    )
    return run


def groups(project, *keys, columns=(), **wanted) -> list[RunGroup]:
    found = run_groups(
        project.id, wanted=RunFilter(**wanted), keys=keys, columns=columns
    )
    return found.groups


def names_in(project, query: str) -> set[str]:
    page = runs_page(
        project.id,
        wanted=RunFilter(query=read_query(query)),
        order=RunOrder(),
        keys=[],
        limit=100,
    )
    return {row.name for row in page.rows}


def names_of(project, group: RunGroup) -> str:
    """Return the names of the runs that the group's query finds."""
    return "".join(sorted(names_in(project, group.query)))


def test_runs_with_the_same_value_are_a_group_and_those_without_one_too(project):
    for name, optimizer in [("a", "adam"), ("b", "adam"), ("c", "sgd")]:
        add_run(project, name, params__optimizer=optimizer)
    add_run(project, "d", other=1)

    found = groups(project, OPTIMIZER)

    assert [(group.values, group.count) for group in found] == [
        (("adam",), 2),
        (("sgd",), 1),
        ((None,), 1),
    ]


def test_numbers_come_before_texts_and_nan_after_them(project):
    for name, value in [("a", 10.0), ("b", 9.0), ("c", "x"), ("d", math.nan)]:
        add_run(project, name, p=value)
    add_run(project, "e", p=True)
    add_run(project, "f", p="y" * 200)

    values = [group.values[0] for group in groups(project, "path:p")]

    assert values[:3] == [True, 9.0, 10.0]
    assert values[0] is True
    assert set(values[3:5]) == {"x", OTHER}
    assert math.isnan(values[5])


def test_true_and_1_are_different_groups_that_their_queries_find(project):
    for name, value in [("a", 1), ("b", True), ("c", 1.0), ("d", False), ("e", None)]:
        add_run(project, name, p=value)
    add_run(project, "f", p=0)

    found = {repr(g.values[0]): names_of(project, g) for g in groups(project, "path:p")}

    assert found == {"0.0": "f", "False": "d", "1.0": "ac", "True": "b", "'None'": "e"}


def test_the_query_of_a_group_finds_its_runs_and_no_others(project):
    hostile = 'a"b\\c'
    for name, value in [
        ("a", 0.1),
        ("b", math.nan),
        ("c", math.inf),
        ("d", hostile),
        ("e", False),
        ("f", 7),
        ("g", ""),
        ("h", -1e-300),
    ]:
        add_run(project, name, **{"two words": value})
    add_run(project, "i", other=1)

    found = groups(project, "path:two words", "state")

    assert sum(group.count for group in found) == 9
    members = [names_in(project, group.query) for group in found]
    assert all(len(some) == 1 for some in members)
    assert set().union(*members) == set("abcdefghi")


def test_a_group_of_shortened_values_has_no_query(project):
    add_run(project, "a", p="y" * 200)

    [group] = groups(project, "path:p")

    assert (group.values, group.query) == ((OTHER,), "")


def test_numbers_of_a_group_leave_out_what_is_unknown(project):
    for name, loss, lr in [("a", 0.2, 0.1), ("b", 0.4, 0.1), ("c", math.nan, 0.1)]:
        add_run(project, name, test__loss=loss, params__lr=lr)
    add_run(project, "d", test__loss=0.9, params__lr=0.2)

    [low, high] = groups(
        project, "path:params/lr", columns=["path:test/loss", "path:params/lr"]
    )

    [loss, lr] = low.numbers
    assert (low.count, loss.count) == (3, 2)
    assert loss.mean == pytest.approx(0.3)
    assert (loss.lowest, loss.highest, loss.best) == (0.2, 0.4, 0.2)
    assert (lr.lowest, lr.best) == (0.1, None)
    assert high.numbers[0].mean == 0.9


def test_numbers_of_the_run_are_put_together_as_those_of_attributes(project):
    for name, idle, energy in [("a", 900.0, 7.2e6), ("b", 2_700.0, None)]:
        run = add_run(project, name, params__lr=0.1)
        write_series(run, "monitoring/train/gpu/0/utilization_percent", [idle / 90] * 2)
        write_series(run, "monitoring/train/job/cpu_cores", [2.0])
        write_values(run, {"monitoring/train/facts/effective_cores": 4})
        settle(run)
        run.diagnoses.all().delete()
        add_ledger(run, computing=3_600.0 - idle, idle=idle, energy=energy)
        end = run.started_at + timedelta(seconds=idle)
        Run.objects.filter(id=run.id).update(ended_at=end, active_seconds=idle / 3)
    add_run(project, "c", params__lr=0.1)
    Run.objects.filter(name="c").update(started_at=None, active_seconds=None)

    [group] = groups(project, "path:params/lr", columns=NUMBERS_OF_RUN)

    numbers = dict(zip(NUMBERS_OF_RUN, group.numbers, strict=True))
    assert group.count == 3
    assert {key: said.count for key, said in numbers.items()} == {
        **dict.fromkeys(NUMBERS_OF_RUN, 2),
        "energy": 1,
    }
    assert {key: said.mean for key, said in numbers.items()} == pytest.approx(
        {
            "duration": 600,
            "wall_time": 1_800,
            "gpu": 20,
            "cpu": 50,
            "gpu_idle": 50,
            "gpu_hours": 1,
            "energy": 7.2e6,
        },
        abs=1e-3,
    )
    assert (numbers["gpu_idle"].best, numbers["gpu"].best) == (25, 30)
    assert numbers["energy"].best is None


def test_unmeasured_values_are_not_zero(project):
    add_run(project, "a")
    Run.objects.update(started_at=None, active_seconds=None)

    [group] = groups(project, "state", columns=NUMBERS_OF_RUN)

    assert [numbers.count for numbers in group.numbers] == [0] * len(NUMBERS_OF_RUN)


def test_runs_are_put_together_by_their_maker_and_by_their_main_finding(project):
    for name in "abcd":
        run = add_run(project, name)
        if name in "cd":
            Run.objects.filter(id=run.id).update(made_by=None)
        if name in "bc":
            add_finding(run, 'Waits for "data"', severity="critical")
            add_finding(run, "Memory is nearly full", severity="notice")

    by_maker = groups(project, "made_by")
    both = groups(project, "finding", "made_by")

    assert [(group.values, group.count) for group in by_maker] == [
        (("ada",), 2),
        ((None,), 2),
    ]
    assert {names_of(project, group): group.values for group in both} == {
        "a": (None, "ada"),
        "b": ('Waits for "data"', "ada"),
        "c": ('Waits for "data"', None),
        "d": (None, None),
    }


def test_a_run_is_in_the_group_of_each_of_its_tags(project):
    for name, tags in [("a", ["x", 'y "z"']), ("b", ["x"]), ("c", []), ("d", None)]:
        run = add_run(project, name, loss=len(name))
        if tags is not None:
            write_tags(run, "once")
            run.attributes.filter(path="tags").update(items=tags)
            gather([run.id], TAGS)

    found = run_groups(
        project.id, wanted=RunFilter(), keys=["tags"], columns=["path:loss"]
    )

    assert found.matching == 4
    assert {group.values: group.count for group in found.groups} == {
        ("x",): 2,
        ('y "z"',): 1,
        (None,): 2,
    }
    assert [group.numbers[0].count for group in found.groups] == [2, 1, 2]
    assert [names_of(project, group) for group in found.groups] == ["ab", "a", "cd"]


def test_texts_of_any_set_are_groups(project):
    write_tags(add_run(project, "a"), "x", "y")
    Attribute.objects.filter(path="tags").update(path="labels")
    add_run(project, "b")

    found = groups(project, "path:labels", "state")

    assert [names_of(project, group) for group in found] == ["a", "a", "b"]


def test_too_many_groups_of_a_run_are_refused(project, monkeypatch):
    monkeypatch.setattr("tracker.queries.runs.groups.MAX_MEMBERSHIPS", 3)
    write_tags(add_run(project, "a"), "x", "y")

    assert len(groups(project, "tags")) == 2
    with pytest.raises(InvalidInput):
        groups(project, "tags", "path:tags")


def test_a_group_whose_query_is_too_long_has_none(project):
    run = add_run(project, "a")
    write_tags(run, "x")
    run.attributes.filter(path="tags").update(items=["x" * MAX_CHARACTERS])
    gather([run.id], TAGS)

    [group] = groups(project, "tags")

    assert (group.count, group.query) == (1, "")


@pytest.mark.parametrize(
    ("path", "best"),
    [
        ("val/accuracy", 0.4),
        ("val/rmse", 0.2),
        ("train/throughput", 0.4),
        ("accuracy_loss", None),
    ],
)
def test_the_better_direction_follows_from_the_name(project, path, best):
    for name, value in [("a", 0.2), ("b", 0.4)]:
        add_run(project, name, **{path.replace("/", "__"): value}, p=1)

    [group] = groups(project, "path:p", columns=[f"path:{path}"])

    assert group.numbers[0].best == best


def test_summaries_of_series_are_added_up(project):
    for name, values in [("a", [1.0, 3.0]), ("b", [2.0, 6.0])]:
        run = make_run(project, name)
        write_series(run, "loss", values)
        settle(run)

    [group] = groups(project, "state", columns=["mean:loss", "min:loss", "count:loss"])

    assert [numbers.mean for numbers in group.numbers] == [3.0, 1.5, 2.0]


def test_only_runs_that_match_are_grouped(project):
    for name, tag in [("a", "x"), ("b", "y")]:
        write_tags(make_run(project, name), tag)

    [group] = groups(project, "state", tag="x")

    assert group.count == 1


@pytest.mark.parametrize(
    "keys",
    [(), ("name",), ("min:loss",), ("path:",), ("path:a\0",), ("state",) * 5],
    ids=str,
)
def test_refuses_what_runs_cannot_be_grouped_by(project, keys):
    with pytest.raises(InvalidInput):
        groups(project, *keys)


def test_all_columns_have_numbers_and_of_very_many_runs_the_first(project, monkeypatch):
    columns = [f"path:p/{number:02}" for number in range(12)]
    for name in "ab":
        values = {f"p/{number:02}": float(number) for number in range(12)}
        write_values(make_run(project, name), values)

    def asked():
        return run_groups(
            project.id,
            wanted=RunFilter(),
            keys=["state"],
            columns=["duration", *columns, "finding"],
        )

    found = asked()
    assert (found.columns, found.left_out) == (["duration", *columns], [])
    [group] = found.groups
    assert [each.mean for each in group.numbers[1:]] == list(range(12))

    monkeypatch.setattr(queries, "MAX_NUMBERS", 20)
    found = asked()
    assert found.columns == ["duration", *columns[:10]]
    assert found.left_out == columns[10:]
    assert len(found.groups[0].numbers) == 11
    monkeypatch.setattr(queries, "MAX_NUMBERS", 1)
    assert asked().left_out == columns[queries.FEWEST_COLUMNS :]


def test_costs_the_same_for_many_runs(project):
    def statements() -> int:
        with CaptureQueriesContext(connection) as captured:
            groups(
                project,
                *(OPTIMIZER, "made_by", "finding", "tags"),
                columns=["path:test/loss", *NUMBERS_OF_RUN],
            )
        return len(captured)

    add_run(project, "a", params__optimizer="adam", test__loss=1)
    few = statements()
    for number in range(20):
        add_run(project, f"b{number}", params__optimizer=f"o{number}", test__loss=1)

    assert statements() == few
