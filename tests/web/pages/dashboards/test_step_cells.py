"""Widgets of media, texts and histograms at one step."""

from __future__ import annotations

import json
import re
from html import unescape
from uuid import uuid4

import pytest
from django.urls import reverse

from tests.builders import make_run
from tests.web.pages.compare.test_media import (
    counted,
    write_histograms,
    write_pictures,
    write_texts,
)
from tracker.actions.dashboards import create_dashboard
from tracker.boards.board import Board, RunSet, Widget

pytestmark = [pytest.mark.django_db, pytest.mark.database]
WIDGET = "c0c0c0c0"


@pytest.fixture(autouse=True)
def _folder(settings, tmp_path):
    settings.DATA_FOLDER = tmp_path


@pytest.fixture
def runs(project):
    runs = [make_run(project, name, "finished") for name in ("first", "second")]
    for run, steps in zip(runs, ([0, 10, 20], [5, 25]), strict=True):
        write_texts(run, "said", [f"{run.name} at {at}" for at in steps], steps=steps)
        write_pictures(run, "samples", range(len(steps)), steps=steps)
    write_histograms(runs[0], "weights", counted(1, 2), counted(3, 4), steps=[0, 10])
    return runs


@pytest.fixture
def get(client_of, member, project, runs):
    """Return a function from a widget's kind and path to the text of a part of it."""

    def get(kind, path, part="body", settings=None, **query):
        run_set = RunSet(runs=tuple(run.id for run in runs))
        settings = {"path": path, **(settings or {})}
        widget = Widget(id=WIDGET, kind=kind, settings=settings, run_set=run_set)
        board = create_dashboard(
            project, uuid4().hex, Board(widgets=(widget,)), user_id=member.user_id
        )
        address = reverse(f"widget-{part}", args=[board.id, WIDGET])
        response = client_of(member).get(address, query)
        return response.content.decode()

    return get


def shown(page):
    text = unescape(re.sub(r"<[^>]*>", " ", page))
    return " ".join(text.split())


def steps_of(page):
    return json.loads(re.search(r'data-steps="([^"]*)"', page)[1])


def test_shows_each_run_at_the_step_or_the_nearest_before(get):
    last, at = get("logged-text", "said"), get("logged-text", "said", at=12)

    assert "first at 20" in shown(last)
    assert "second at 25" in shown(last)
    assert "first at 10" in shown(at)
    assert "second at 5" in shown(at)
    assert 'name="at" value="12"' in at


def test_the_slider_has_the_steps_of_all_runs(get):
    page = get("logged-text", "said", at=12)

    assert steps_of(page) == [0, 5, 10, 20, 25]
    assert 'max="4" value="2"' in page


def test_images_are_shown_with_a_way_to_enlarge_them(get, runs):
    page = get("media", "samples", at=5)

    assert page.count('data-part="zoom"') == 2
    for run in runs:
        assert f'src="/runs/{run.id}/files/picture?path=samples&amp;digest=' in page


def test_runs_without_it_are_counted(get):
    page = get("media", "weights")

    assert page.count('<li class="media__cell">') == 1
    assert "1 of 2 runs have no data at this path." in page


def test_runs_that_have_it_come_before_the_limit(get, project, runs):
    runs[:0] = [make_run(project, f"without {number}") for number in range(12)]

    page = get("logged-text", "said")

    assert "first at 20" in shown(page)
    assert "12 of 14 runs have no data at this path." in page


@pytest.mark.parametrize("kind", ["media", "logged-text", "histograms"])
def test_a_path_of_no_run_is_reported(get, kind):
    assert "“nowhere”" in get(kind, "nowhere")


def test_histograms_are_drawn_for_the_runs_that_have_some(get):
    assert "data-figure-url" in get("histograms", "weights")
    assert '"heatmap"' in get("histograms", "weights", part="figure")
    assert "No histograms at “said”." in get("histograms", "said")


def test_histograms_are_ridges_if_the_widget_says_so(get):
    figure = get("histograms", "weights", part="figure", settings={"view": "ridges"})

    assert '"heatmap"' not in figure
    assert '"fill":"toself"' in figure


def test_the_charts_of_a_run_draw_ridges_on_request(client_of, member, runs):
    address = f"/runs/{runs[0].id}/figures/histograms?path=weights"
    members = client_of(member)

    assert '"heatmap"' in members.get(address).content.decode()
    assert '"toself"' in members.get(f"{address}&ridges=1").content.decode()
    assert (
        'data-option="ridges"'
        in members.get(f"/runs/{runs[0].id}/charts").content.decode()
    )
