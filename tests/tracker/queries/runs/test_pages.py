"""A page of matching runs is the same for every method of finding it."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.builders import make_project
from tracker.models import Attribute, Kind, Run
from tracker.queries.runs import pages
from tracker.queries.runs.filter import filters
from tracker.queries.runs.filter.filters import RunFilter, read_query
from tracker.queries.runs.order import RunOrder
from tracker.queries.runs.table import RunsPage, runs_page

pytestmark = [pytest.mark.django_db, pytest.mark.database]

RUNS = 40


@pytest.fixture
def project(member, monkeypatch):
    """Every second run is even; exactly the best half is good."""
    monkeypatch.setattr(filters, "FEW", 5)
    monkeypatch.setattr(pages, "SORTED_MEANWHILE", 0)
    project = make_project(member)
    runs = Run.objects.bulk_create(
        Run(project=project, name=f"run {number:02}") for number in range(RUNS)
    )
    values = {
        "score": lambda number: number,
        "even": lambda number: number % 2 == 0,
        "good": lambda number: number >= RUNS // 2,
    }
    Attribute.objects.bulk_create(
        Attribute(
            run=run,
            project=project,
            path=path,
            kind=Kind.FLOAT if path == "score" else Kind.BOOLEAN,
            number=value(n),
        )
        for n, run in enumerate(runs)
        for path, value in values.items()
    )
    return project


def page(project, query, *, is_descending=True, **options) -> RunsPage:
    return runs_page(
        project.id,
        wanted=RunFilter(query=read_query(query)),
        order=RunOrder("path:score", is_descending),
        keys=[],
        limit=4,
        **options,
    )


def names(page: RunsPage) -> list[str]:
    return [row.name for row in page.rows]


def test_those_that_match_are_found_among_the_first(project):
    found = page(project, "even = true")

    assert names(found) == ["run 38", "run 36", "run 34", "run 32"]
    assert (found.total, found.matching) == (RUNS, RUNS // 2)


def test_a_page_that_the_first_do_not_fill_is_found_all_the_same(project):
    found = page(project, "good = true", is_descending=False)

    assert names(found) == ["run 20", "run 21", "run 22", "run 23"]


def test_the_last_that_match_are_found_at_the_end(project):
    first = page(project, "even = true", offset=15)
    last = page(project, "even = true", cursor=first.cursor)

    assert names(first) == ["run 08", "run 06", "run 04", "run 02"]
    assert names(last) == ["run 00"]
    assert last.cursor == ""


def test_looking_up_costs_two_statements_more_at_most(project, monkeypatch):
    def cost(query: str) -> int:
        with CaptureQueriesContext(connection) as statements:
            page(project, query, is_descending=False)
            return sum(" FROM " in statement["sql"] for statement in statements)

    looked_up, looked_up_in_vain = cost("even = true"), cost("good = true")
    monkeypatch.setattr(pages, "MAX_LOOKED_UP", 0)

    assert looked_up <= cost("even = true") + 1
    assert looked_up_in_vain <= cost("good = true") + 3
