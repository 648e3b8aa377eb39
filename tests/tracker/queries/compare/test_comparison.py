"""Attributes of several runs side by side."""

from __future__ import annotations

import math

import pytest

from tests.builders import (
    make_member,
    make_project,
    make_run,
    write_series,
    write_values,
)
from tests.diagnoses import NOW
from tracker.models import Run
from tracker.queries.compare.comparison import (
    Difference,
    compare_attributes,
    difference,
    find_runs,
    overlaid_series,
    run_named,
    same,
)
from tracker.queries.run.attributes import AttributeRow
from tracker.series.compaction import compact_run

database = pytest.mark.database
pytestmark = pytest.mark.django_db


def row(value: object) -> AttributeRow:
    return AttributeRow("", "", value, 0, None, None, None, None, None, NOW)


@pytest.fixture
def project():
    return make_project(make_member("ada"))


@pytest.fixture
def runs(project):
    return [make_run(project, name) for name in ("a", "b")]


def compared(runs, **options):
    return compare_attributes([run.id for run in runs], **options)


@database
def test_rows_hold_each_run_s_value_and_none_where_it_is_absent(runs):
    write_values(runs[0], {"params/lr": 0.1, "params/old": True})
    write_values(runs[1], {"params/lr": 0.2})

    rows = compared(runs).rows

    assert [(row.path, [v and v.value for v in row.values]) for row in rows] == [
        ("params/lr", [0.1, 0.2]),
        ("params/old", [True, None]),
    ]


@database
def test_leaves_out_what_does_not_differ_unless_told(runs):
    for run in runs:
        write_values(run, {"params/lr": 0.1, "params/nan": math.nan})

    assert compared(runs).rows == []
    assert [row.path for row in compared(runs, only_differences=False).rows] == [
        "params/lr",
        "params/nan",
    ]


@database
def test_a_series_shows_its_last_value(runs):
    write_series(runs[0], "train/loss", [3.0, 1.0])
    write_series(runs[1], "train/loss", [3.0, 2.0])
    for run in runs:
        compact_run(run.id)

    (row,) = compared(runs).rows

    assert [value.value for value in row.values if value] == [1.0, 2.0]


@database
def test_measurements_of_the_agent_come_last(runs):
    write_values(runs[0], {"monitoring/train/facts/host": "x", "zebra": 1, "a/b": 1})

    assert [row.path for row in compared(runs).rows] == [
        "zebra",
        "a/b",
        "monitoring/train/facts/host",
    ]


@database
def test_profiles_are_not_compared(runs):
    write_values(runs[0], {"monitoring/train/facts/code_profile": "{}"})

    assert compared(runs).path_count == 0
    assert compared(runs, seen=lambda *_: True).path_count == 0


@database
def test_pages_cover_every_path_once(runs):
    write_values(runs[0], {f"params/{number:03}": number for number in range(25)})

    seen, offset = [], 0
    while offset is not None:
        page = compared(runs, offset=offset, limit=10)
        seen += [row.path for row in page.rows]
        offset = page.next_offset

    assert seen == [f"params/{number:03}" for number in range(25)]
    assert page.path_count == 25


@database
def test_as_many_queries_for_a_thousand_attributes_as_for_one(
    runs, django_assert_num_queries
):
    write_values(runs[0], {"one": 1})
    with django_assert_num_queries(2):
        compared(runs)

    write_values(runs[1], {f"params/{number}": number for number in range(1_000)})
    with django_assert_num_queries(2):
        assert len(compared(runs, limit=2_000).rows) == 1_001


@database
def test_overlays_every_series_that_any_run_has(runs):
    for run in runs[:2]:
        write_series(run, "train/loss", [1.0])
    write_series(runs[1], "monitoring/train/job/cpu_cores", [1.0])
    write_values(runs[1], {"train/best": 0.5})

    assert overlaid_series([run.id for run in runs]) == {
        "train/loss": 2,
        "monitoring/train/job/cpu_cores": 1,
    }


@database
def test_finds_runs_to_add_by_part_of_their_name(project, runs):
    make_run(make_project(make_member("mallory")), "a of another project")
    trashed = make_run(project, "a in the trash")
    Run.objects.filter(id=trashed.id).update(trashed_at=NOW)

    assert find_runs(project.id, "A", without=[]) == [runs[0]]
    assert find_runs(project.id, "", without=[runs[0].id]) == [runs[1]]


@database
@pytest.mark.parametrize(
    ("name", "is_there"), [("a", True), ("A", False), ("a\0", False)]
)
def test_finds_a_run_by_exactly_its_name(project, runs, name, is_there):
    assert run_named(project.id, name) == (runs[0].id if is_there else None)


@pytest.mark.parametrize(
    ("left", "right", "is_same"),
    [
        (1, 1.0, True),
        (1, True, False),
        (0, False, False),
        (math.nan, math.nan, True),
        (math.nan, 1.0, False),
        (math.inf, math.inf, True),
        (math.inf, -math.inf, False),
        ("1", 1, False),
        (["a"], ["a"], True),
        (2**60, 2**60 + 1, False),
    ],
)
def test_knows_when_two_values_are_the_same(left, right, is_same):
    assert same(row(left), row(right)) is is_same


def test_absent_is_like_absent_only():
    assert same(None, None)
    assert not same(None, row(None))


@pytest.mark.parametrize(
    ("value", "reference", "expected"),
    [
        pytest.param(3.0, 2.0, Difference(1.0, 0.5), id="more"),
        pytest.param(1, -2, Difference(3.0, 1.5), id="against a negative number"),
        pytest.param(2.0, 0.0, Difference(2.0, None), id="no share of nothing"),
        pytest.param(math.inf, 2.0, Difference(math.inf, None), id="infinity"),
        pytest.param(2.0, 2.0, None, id="equal"),
        pytest.param(math.nan, 2.0, None, id="not a number"),
        pytest.param("3", 2.0, None, id="a text"),
        pytest.param(True, False, None, id="yes and no"),
        pytest.param(10**400, 1, None, id="beyond every float"),
    ],
)
def test_says_how_far_a_number_is_from_the_reference(value, reference, expected):
    assert difference(row(value), row(reference)) == expected


def test_there_is_no_difference_to_what_is_absent():
    assert difference(row(1.0), None) is None
    assert difference(None, row(1.0)) is None
