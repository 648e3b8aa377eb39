from __future__ import annotations

from datetime import UTC, datetime
from math import inf, isnan, nan

import pytest
from django.db.models import Q

from tests.builders import make_project, make_run, write_series, write_values
from tracker.models import Kind
from tracker.queries.run.attributes import (
    attribute_paths,
    attribute_values,
    list_attributes,
    paths_of_texts,
    plain_value,
    series_count,
    series_paths,
)
from tracker.series.compaction import compact_run

pytestmark = [pytest.mark.django_db, pytest.mark.database, pytest.mark.postgresql]


@pytest.fixture
def run(member):
    return make_run(make_project(member))


def value_of(run, path):
    return attribute_values([run.id], [path])[run.id][path].value


@pytest.mark.parametrize(
    "value",
    [
        0.25,
        inf,
        7,
        2**60 + 1,
        True,
        False,
        "resnet",
        "",
        "<script>alert(1)</script>\u202e",
        datetime(2026, 1, 2, 3, 4, 5, 678, tzinfo=UTC),
        ["a", "b"],
    ],
    ids=repr,
)
def test_a_value_comes_back_as_the_same_type(run, value):
    write_values(run, {"params/x": value})

    found = value_of(run, "params/x")

    assert found == value
    assert type(found) is type(value)


def test_nan_is_a_value(run):
    write_values(run, {"x": nan})

    assert isnan(value_of(run, "x"))


def test_a_series_has_its_last_value_and_its_summary(run):
    write_series(run, "loss", [4, 1, 2], steps=[10, 20, 30])
    compact_run(run.id)

    (row,) = list_attributes(run, prefix="loss")

    assert (row.kind, row.value, row.count) == ("float_series", 2, 3)
    assert (row.minimum, row.maximum, row.mean) == (1, 4, pytest.approx(7 / 3))
    assert (row.first_step, row.last_step) == (10, 30)


def test_values_not_yet_summarized_are_unknown(run):
    write_series(run, "loss", [4])

    (row,) = list_attributes(run, prefix="loss")

    assert row.count == 0
    assert (row.value, row.minimum, row.mean, row.last_step) == (None,) * 4


def test_a_series_without_a_finite_value_has_no_mean(run):
    write_series(run, "loss", [nan, inf])
    compact_run(run.id)

    (row,) = list_attributes(run, prefix="loss")

    assert (row.value, row.minimum, row.mean) == (inf, inf, None)


def test_lists_by_path_what_begins_so(run):
    write_values(run, {"params/b": 1, "params/a": 2, "Params/c": 3, "other": 4})

    assert [row.path for row in list_attributes(run, prefix="params/")] == [
        "params/a",
        "params/b",
    ]


@pytest.mark.parametrize("prefix", ["100%", "a_b", "back\\slash", "[x]", "../", "שלום"])
def test_no_sign_in_a_prefix_has_a_meaning(run, prefix):
    write_values(run, {f"{prefix}/x": 1, "100x/x": 2, "axb/x": 3, "backslash/x": 4})

    assert [row.path for row in list_attributes(run, prefix=prefix)] == [f"{prefix}/x"]


@pytest.mark.parametrize("prefix", ["nul\0", "half \ud800"])
def test_a_prefix_that_no_path_can_have_finds_nothing(run, prefix):
    assert list_attributes(run, prefix=prefix) == []
    assert attribute_values([run.id], [prefix]) == {run.id: {}}


def test_lists_the_paths_of_series_only(run):
    write_series(run, "train/loss", [1])
    write_series(run, "train/accuracy", [1])
    write_values(run, {"train/rate": 1})

    assert series_paths(run, "train/") == ["train/accuracy", "train/loss"]
    assert series_paths(run, "test/") == []


@pytest.mark.parametrize(
    "prefix", ["a", "\ud7ff", "\U0010ffff", "a\U0010ffff\U0010ffff", "~"], ids=ascii
)
def test_a_prefix_ends_where_it_ends(run, prefix):
    inside = [prefix, f"{prefix}/x", f"{prefix}\U0010ffff", f"{prefix}\ue000"]
    outside = ["!", "B", "ab", "b", "\ue000"]
    outside = [path for path in outside if not path.startswith(prefix)]
    write_values(run, dict.fromkeys([*inside, *outside], 1))

    assert set(attribute_paths(run, prefix)) == set(inside)


def test_lists_paths_by_prefix_and_condition(run):
    write_values(run, {"b/z": 1, "b/a": "x", "Z": 2})

    assert attribute_paths(run) == ["Z", "b/a", "b/z"]
    assert attribute_paths(run, "b/") == ["b/a", "b/z"]
    assert attribute_paths(run, where=Q(kind=Kind.INTEGER)) == ["Z", "b/z"]


def test_counts_series_only(run):
    write_series(run, "train/loss", [1])
    write_values(run, {"train/rate": 1})

    assert series_count(run) == 1


def test_texts_are_found_by_a_part_whatever_its_case(run):
    write_values(run, {"a": "Ein ÜBER mut", "b/c": "über", "b/d": 1, "e": ["über"]})

    assert sorted(paths_of_texts(run, "Über")) == ["a", "b/c"]
    assert paths_of_texts(run, "über", "b/") == ["b/c"]
    assert paths_of_texts(run, "%") == []


def test_values_of_many_runs_come_in_one_query(member, run, django_assert_num_queries):
    other = make_run(run.project, "other")
    write_values(run, {"lr": 0.1, "depth": 5})
    write_values(other, {"lr": 0.2, "secret": 1})

    with django_assert_num_queries(1):
        found = attribute_values([run.id, other.id], ["lr", "depth"])

    values = {
        run_id: {path: row.value for path, row in rows.items()}
        for run_id, rows in found.items()
    }
    assert values == {run.id: {"lr": 0.1, "depth": 5}, other.id: {"lr": 0.2}}


def test_values_have_all_of_their_digits():
    assert plain_value(0.1 + 0.2) == "0.30000000000000004"
    assert plain_value(10**30) == "1" + "0" * 30
    assert plain_value(value=True) == "true"
    assert plain_value(["a", "b"]) == "a, b"
    assert plain_value(None) == ""
