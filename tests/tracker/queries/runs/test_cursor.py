"""Consecutive pages with changes between them."""

from __future__ import annotations

import math

import pytest

from tests.builders import make_project, make_run, write_tags, write_values
from tracker.api.params import LONGEST_CURSOR
from tracker.errors import InvalidInput
from tracker.models import Attribute, Kind, Run
from tracker.queries.runs import pages
from tracker.queries.runs.filter import filters
from tracker.queries.runs.filter.filters import RunFilter, read_query
from tracker.queries.runs.order import COLUMNS, RunOrder
from tracker.queries.runs.table import runs_page

pytestmark = [pytest.mark.django_db, pytest.mark.database, pytest.mark.postgresql]

# Runs of the project with this value, and with this tag.
TWOS = {"run 01", "run 02", "run 03"}
TAGGED = {"run 01", "run 04", "run 07", "run 10"}


@pytest.fixture
def project(member):
    project = make_project(member)
    values = [1.0, 2.0, 2.0, 2.0, math.inf, -math.inf, math.nan, "a", "b", "z" * 200, 7]
    for number, value in enumerate(values):
        run = make_run(project, f"run {number:02}", started_at=number * 1_000_000)
        write_values(run, {"value": value})
        write_tags(run, f"tag {number % 3}")
    for name in ("without 1", "without 2"):
        make_run(project, name)
    return project


def page(project, order, *, cursor="", offset=0, limit=3, query=""):
    return runs_page(
        project.id,
        wanted=RunFilter(query=read_query(query)),
        order=order,
        keys=[],
        cursor=cursor,
        offset=offset,
        limit=limit,
    )


def all_names(project, order, *, limit=3, query=""):
    names, cursor = [], ""
    while True:
        found = page(project, order, cursor=cursor, limit=limit, query=query)
        names += [row.name for row in found.rows]
        cursor = found.cursor
        if not cursor:
            return names


@pytest.mark.parametrize("is_descending", [True, False], ids=["down", "up"])
def test_cursors_and_offsets_lead_through_the_same_order(project, is_descending):
    for key in (*COLUMNS, "path:value", "mean:value"):
        order = RunOrder(key, is_descending)
        whole = [row.name for row in page(project, order, limit=100).rows]

        assert len(set(whole)) == 13
        assert all_names(project, order) == whole, key
        by_offset = [
            row.name
            for offset in range(0, 15, 4)
            for row in page(project, order, offset=offset, limit=4).rows
        ]
        assert by_offset == whole, key


@pytest.mark.parametrize(
    ("few", "looked_up"), [(1_000, 0), (0, 0), (0, 1_000)], ids=["few", "many", "most"]
)
@pytest.mark.parametrize("key", ["path:value", "name"])
def test_cursors_go_through_what_a_query_finds(
    project, monkeypatch, few, looked_up, key
):
    monkeypatch.setattr(filters, "FEW", few)
    monkeypatch.setattr(pages, "SORTED_MEANWHILE", 0)
    monkeypatch.setattr(pages, "MAX_LOOKED_UP", looked_up)
    order = RunOrder(key)
    whole = [row.name for row in page(project, order, limit=100).rows]

    by_value = all_names(project, order, limit=2, query="not value = 2")
    by_tag = all_names(project, order, limit=2, query='not tags contains "tag 1"')

    assert by_value == [name for name in whole if name not in TWOS]
    assert by_tag == [name for name in whole if name not in TAGGED]
    beyond = page(project, order, offset=3, limit=4, query="not value = 2").rows
    first = page(project, order, limit=7, query="not value = 2").rows
    assert [row.id for row in beyond] == [row.id for row in first[3:]]


def test_runs_that_come_meanwhile_neither_repeat_nor_hide_any(project):
    order = RunOrder("path:value", is_descending=False)
    before = [row.name for row in page(project, order, limit=100).rows]
    first = page(project, order, limit=4)
    for number in range(5):
        run = make_run(project, f"new {number}")
        Attribute.objects.create(
            run=run, project=project, path="value", kind=Kind.FLOAT, number=-1.0
        )
    Run.objects.filter(name=before[0]).delete()

    rest = page(project, order, cursor=first.cursor, limit=100)

    assert [row.name for row in rest.rows] == before[4:]


def test_a_run_with_very_many_tags_has_a_next_page(project):
    many = make_run(project, "many tags")
    write_tags(many, *(f"\N{SNOWMAN} a long tag of number {n:04}" for n in range(900)))
    order = RunOrder("tags", is_descending=False)
    whole = [row.name for row in page(project, order, limit=100).rows]

    assert all_names(project, order, limit=1) == whole
    place = whole.index("many tags") + 1
    assert len(page(project, order, limit=place).cursor) <= LONGEST_CURSOR


def test_the_last_page_has_no_cursor(project):
    assert page(project, RunOrder("name"), limit=13).cursor == ""
    assert page(project, RunOrder("name"), limit=12).cursor


@pytest.mark.parametrize("cursor", ["x", "~", "a~b", "~" * 50, "é", "\0", "AAAA~AAAA"])
def test_an_invalid_cursor_is_refused(project, cursor):
    with pytest.raises(InvalidInput, match="start again without it"):
        page(project, RunOrder("name"), cursor=cursor)


def test_a_cursor_of_another_order_is_refused(project):
    cursor = page(project, RunOrder("name")).cursor

    for order in (RunOrder("name", is_descending=False), RunOrder("path:value")):
        with pytest.raises(InvalidInput, match="cursor"):
            page(project, order, cursor=cursor)


def test_a_cursor_that_was_changed_is_refused(project):
    cursor = page(project, RunOrder("name")).cursor

    with pytest.raises(InvalidInput, match="cursor"):
        page(project, RunOrder("name"), cursor="A" + cursor[1:])
