"""The head of a page lists exactly the modules that its behaviors load."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.http import HttpResponse, StreamingHttpResponse

from tests.builders import make_project, make_run
from web.modules import PLACE, Modules, behaviours_of, modules_of

SCRIPTS = Path(__file__).parents[2] / "web/static"


def test_behaviours_are_read_from_elements():
    page = b'<p data-behaviour="copy"></p><p data-behaviour="chart open-points">'

    assert behaviours_of(page) == {"copy", "chart", "open-points"}


def test_modules_are_followed_through_all_they_import():
    modules = modules_of(frozenset(["chart"]))

    assert "web/js/charts/chart.js" in modules
    # By way of another.
    assert "web/js/charts/chart_summary.js" in modules
    assert all((SCRIPTS / name).is_file() for name in modules)
    assert "web/js/table/runs_grid.js" not in modules


def test_what_connects_them_is_on_every_page():
    assert "web/js/behaviours.js" in modules_of(frozenset())


def test_unknown_behaviours_are_passed_over():
    assert modules_of(frozenset(["no such", ""])) == modules_of(frozenset())


def test_every_behaviour_is_found():
    registry = (SCRIPTS / "web/js/behaviours.js").read_text()
    names = re.findall(r'^  "([a-z-]+)":', registry, re.MULTILINE)

    always = set(modules_of(frozenset()))
    assert names
    for name in names:
        assert set(modules_of(frozenset([name]))) > always, name


@pytest.mark.parametrize(
    "response",
    [
        HttpResponse(b"<p data-behaviour='chart'>"),
        HttpResponse(b"\xff\xfe", content_type="image/png"),
        StreamingHttpResponse([PLACE]),
    ],
    ids=["part of a page", "no page", "stream"],
)
def test_other_answers_are_left_as_they_are(response, rf):
    answer = Modules(lambda _: response)(rf.get("/"))

    assert b"modulepreload" not in b"".join(answer)


@pytest.mark.django_db
def test_pages_name_theirs(client_of, member):
    run = make_run(make_project(member))
    page = client_of(member).get(f"/runs/{run.id}/charts").content.decode()

    assert PLACE.decode() not in page
    assert page.count("/web/js/page/palette.js") == 1
    assert page.count("/web/js/core/key_sequence.js") == 1  # by way of another
    assert "runs_grid.js" not in page
