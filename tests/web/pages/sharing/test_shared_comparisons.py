"""Comparisons by a share link: values of runs only where the configuration is shared."""

from __future__ import annotations

import html
import re
from itertools import pairwise
from urllib.parse import urlencode

import orjson
import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from tests.builders import (
    browser_of,
    make_run,
    records_message,
    write,
    write_series,
    write_values,
)
from tests.tracker.api.v1.test_files import add
from tests.web.shared_site import PICTURE
from tracker.actions.ladders import RungRequest, create_ladder
from tracker.actions.shares import LinkRequest, make_link
from tracker.actor import Part
from tracker.models import Run
from tracker.queries.compare.comparison import RUNS_AT_MOST
from tracker.short_ids import shortened

pytestmark = [pytest.mark.django_db, pytest.mark.database]

HOST = "monitoring/train/facts/host"
DIVIDED = "colour=params/lr&dash=params/lr&together=params/lr"
# nginx's default limit for response headers.
HEADERS_AT_MOST = 4_096


@pytest.fixture
def runs(project):
    runs = [make_run(project, name, "finished") for name in ("one", "two", "three")]
    for number, run in enumerate(runs):
        write_values(run, {"params/lr": f"rate-{number}", HOST: f"host-{number}"})
        write_series(run, "train/loss", [1.0, 0.5 + number])
    return runs


@pytest.fixture
def share(project, member):
    """Return a function that shares a comparison of runs, and the link's address."""

    def make(runs, asked="", *parts):
        of = f"runs={','.join(str(run.id) for run in runs)}&{asked}"
        link_request = LinkRequest("comparison", of, frozenset(parts))
        return f"/s/{make_link(project, browser_of(member), link_request)}/"

    return make


def opened(base):
    """Return where the link leads, and the page there."""
    address = Client().get(base)["Location"]
    return address, Client().get(address).content.decode()


def tabs_of(page):
    return re.findall(r'aria-keyshortcuts="\d"[^>]*>([^<]+)</a>', page)


def test_tabs_of_values_are_offered_where_the_configuration_is_shared(share, runs):
    _, without = opened(share(runs))
    _, ticked = opened(share(runs, "", Part.CONFIG))

    measured = ["Charts", "Side by side", "Media", "Hardware", "Findings"]
    assert tabs_of(without) == measured
    assert tabs_of(ticked) == [
        *measured[:3],
        "Parallel coordinates",
        "Scatter",
        "Importance",
        *measured[3:],
    ]


def test_it_opens_as_it_was_arranged(share, runs):
    asked = "tab=parallel&dimension=train/loss&dimension=params/lr&brush=0:1:train/loss"
    address, page = opened(share(runs, asked, Part.CONFIG))
    _, without = opened(share(runs, asked))

    assert "dimension=train%2Floss&dimension=params%2Flr&brush=" in address
    assert "rate-1" in page
    axes = re.findall(r'<span class="clip">([^<]+)</span><a href="[^"]*dimension', page)
    assert axes == ["train/loss", "params/lr"]
    assert 'aria-label="Compared runs"' in without
    assert "rate-1" not in without
    assert "params/lr" not in without


@pytest.mark.parametrize("path", ["", "/figure"])
def test_lines_are_divided_where_the_configuration_is_shared(share, runs, path):
    asked, at = f"{DIVIDED}&path=train/loss", f"w/ada-workspace/vision/compare{path}"
    query = f"{at}?runs={','.join(str(run.id) for run in runs)}&{asked}"

    ticked = Client().get(share(runs, "", Part.CONFIG) + query).content.decode()
    without = Client().get(share(runs) + query).content.decode()

    assert "rate-2" in ticked
    assert "rate-2" not in without


def test_what_is_not_ticked_divides_nothing(share, runs):
    asked = f"colour={HOST}&together={HOST}"
    base = share(runs, asked, Part.CONFIG)
    address, page = opened(base)
    figure = Client().get(
        address.replace("/compare?", "/compare/figure?") + "&path=train/loss"
    )

    assert "compare-legend" not in page
    assert "not set" not in page
    assert [trace["name"] for trace in figure.json()["data"]] == ["one", "two", "three"]

    _, whole = opened(share(runs, asked, Part.CONFIG, Part.ENVIRONMENT))
    assert "host-1" in whole


def test_points_lead_to_the_pages_of_the_link(share, runs):
    base = share(runs, "tab=scatter", Part.CONFIG)
    _, page = opened(base)

    assert f'data-runs-at="{base}runs/"' in page
    assert Client().get(f"{base}runs/{runs[0].id}/").status_code == 200


def test_nothing_is_set_beside_other_runs(share, runs):
    asked = "tab=scatter&among=1&x=train/loss&y=params/lr"
    _, page = opened(share(runs[:2], asked, Part.CONFIG))

    assert "Include all runs" not in page
    assert "three" not in page


def test_a_hundred_runs_are_compared_by_a_link(share, project):
    made = Run.objects.bulk_create(
        Run(project=project, name=f"run-{number:03}", state="finished")
        for number in range(RUNS_AT_MOST)
    )
    base = share(made, "tab=table")

    answer = Client().get(base)
    address, page = opened(base)

    assert len(answer.serialize_headers()) < HEADERS_AT_MOST
    shown = re.findall(r'class="compare-run__name clip" [^>]*title="([^"]+)"', page)
    assert shown == [f"run-{number:03}" for number in range(RUNS_AT_MOST)]
    assert shortened(made[-1].id) in address
    assert Client().get(f"{base}runs/{made[-1].id}/").status_code == 200


@pytest.mark.parametrize("tab", ["charts", "table", "parallel", "scatter"])
def test_of_many_runs_no_more_is_asked_than_of_few(share, project, tab):
    made = Run.objects.bulk_create(
        Run(project=project, name=f"run-{number}", state="finished")
        for number in range(RUNS_AT_MOST)
    )
    links = [share(some, f"tab={tab}", Part.CONFIG) for some in (made[:2], made)]
    asked = []
    for base in links:
        address = Client().get(base)["Location"]
        Client().get(address)  # a visit is recorded once a minute
        with CaptureQueriesContext(connection) as queries:
            assert Client().get(address).status_code == 200
        asked.append(len(queries))

    assert asked[0] == asked[1]


def test_colours_stay_with_the_runs(share, runs):
    address, page = opened(share(runs, "colours=5.3.7"))

    assert "colours=5.3.7" in address
    places = [page.index(f"run-colour--{colour}") for colour in (5, 3, 7)]
    assert all(before < after for before, after in pairwise(places))
    # Visitors have no controls to change them.
    assert 'value="hide.5"' in page
    assert 'role="menuitemradio"' not in page


def test_the_report_of_a_ladder_is_shared_and_tells_no_cost(project, member, runs):
    project.gpu_hour_price, project.currency = 2.0, "CCY"
    project.save()
    ladder = create_ladder(project, "faster", [RungRequest(str(r.id)) for r in runs])
    link_request = LinkRequest("ladder", str(ladder.id))
    base = f"/s/{make_link(project, browser_of(member), link_request)}/"

    page = Client().get(f"{base}ladders/{ladder.id}/").content.decode()
    assert f'href="{base}ladders/{ladder.id}/report?' in page
    report = Client().get(f"{base}ladders/{ladder.id}/report").content.decode()
    assert "faster" in report
    for hidden in ("rate-1", "CCY"):
        assert hidden not in report


def test_charts_stand_as_the_link_says_and_are_kept_for_nobody(share, runs):
    write_series(runs[0], "val/loss", [1.0, 0.5])
    layout = '{"pinned":[["val/loss"]]}'

    _, page = opened(share(runs, urlencode({"layout": layout})))

    assert re.search(r'data-section="pinned".*?data-path="val/loss"', page, re.DOTALL)
    assert 'data-layout-url=""' in page
    assert "data-annotations-url" not in page


def test_panels_of_other_kinds_are_not_in_the_address(share, runs):
    panel = {"id": "c0c0c0c0", "kind": "bar", "settings": {"metric": "params/secret"}}
    layout = {"pinned": [["train/loss"]], "panels": [panel]}
    query = urlencode({"layout": orjson.dumps(layout).decode()})

    address, page = opened(share(runs, query))

    assert "pinned" in address
    assert "secret" not in address + page


PANELS = {
    "text": {"text": "words of ours"},
    "table": {"columns": ["params/lr", "train/loss"]},
    "media": {"path": "pictures/frames"},
    "logged-text": {"path": "samples"},
    "ladder": {"ladder": "00000000-0000-0000-0000-000000000000"},
}


def panel_of(kind):
    return {"id": f"{[*PANELS].index(kind):08}", "kind": kind, "settings": PANELS[kind]}


@pytest.fixture
def with_panels(share, runs, settings, tmp_path):
    """Return a function that shares the first two runs with panels of all kinds."""
    settings.DATA_FOLDER = tmp_path
    for run in runs:
        add(run, "pictures/frames", PICTURE, name="p.png", kind="image/png")
        write(run, [records_message("samples", [f"text of {run.name}"])])
    layout = orjson.dumps({"panels": [panel_of(kind) for kind in PANELS]}).decode()
    return lambda *parts: share(runs[:2], urlencode({"layout": layout}), *parts)


@pytest.mark.parametrize(
    ("parts", "kinds"),
    [
        ((), {"text"}),
        ((Part.FILES,), {"text", "media"}),
        ((Part.LOGS,), {"text", "logged-text"}),
        ((Part.CONFIG,), {"text", "table"}),
        (tuple(Part), {"text", "table", "media", "logged-text"}),
    ],
)
def test_panels_are_shown_where_their_content_is_shared(with_panels, parts, kinds):
    address, page = opened(with_panels(*parts))

    panels = re.findall(r'data-panel="([^"]+)"', page)
    assert {orjson.loads(html.unescape(panel))["kind"] for panel in panels} == kinds
    for path in ("params/lr", "pictures/frames", "samples"):
        is_named = any(path in str(PANELS[kind]) for kind in kinds)
        assert (urlencode({"": path})[1:] in address) == is_named
    assert 'data-part="remove-panel"' not in page
    assert "panel-dialog" not in page


def body_of(base, panel, runs):
    asked = {
        "panel": orjson.dumps(panel).decode(),
        "runs": ",".join(str(run.id) for run in runs),
    }
    at = f"{base}w/ada-workspace/vision/charts/panel/body"
    return Client().get(at, asked)


def test_panels_show_their_content(with_panels, runs):
    base = with_panels(*Part)

    table, text, media = (
        body_of(base, panel_of(kind), runs[:2]).content.decode()
        for kind in ("table", "logged-text", "media")
    )

    assert "rate-1" in table
    assert "text of two" in text
    picture = html.unescape(re.search(r'<img src="([^"]+)"', media)[1])
    assert picture.startswith(base)
    assert Client().get(picture)["Content-Type"] == "image/png"


def test_an_address_of_a_panel_that_a_visitor_writes_shows_no_more(with_panels, runs):
    bare, base = with_panels(), with_panels(*Part)

    for kind, hidden in (
        ("table", "rate-"),
        ("logged-text", "text of"),
        ("media", "<img"),
    ):
        assert hidden not in body_of(bare, panel_of(kind), runs[:2]).content.decode()
    # The third run is not shared.
    other = body_of(base, panel_of("table"), runs).content.decode()
    assert "rate-1" in other
    assert "three" not in other
    assert "rate-2" not in other
    assert body_of(base, panel_of("ladder"), runs).status_code == 404


def test_of_many_runs_a_link_leaves_out_how_charts_are_arranged(share, project):
    runs = [make_run(project, f"run-{n:03}", "finished") for n in range(100)]
    layout = orjson.dumps({"pinned": [["x" * 2_500]]}).decode()

    address, _ = opened(share(runs, urlencode({"layout": layout})))

    assert "layout" not in address
