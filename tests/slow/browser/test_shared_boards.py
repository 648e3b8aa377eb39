"""Creating a report and reading it by a share link, and a frozen dashboard."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect
from pytest_django.live_server_helper import LiveServer

from tests.builders import make_project, make_run, write_series, write_values
from tests.slow.browser.accessibility import violations
from tests.slow.browser.conftest import PHONE, WIDE, Watch
from tests.slow.browser.test_shares import make_in_dialog, open_dialog
from tests.web.sample_run import make_sample_run
from tracker.actions.dashboards import create_dashboard
from tracker.actions.ladders import RungRequest, create_ladder
from tracker.boards.board import Board, Place, Widget

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

LISTED = "/w/ada-workspace/vision/reports/"
DRAWN = '.chart[data-drawn="true"]'
# The first chart of a page waits for Plotly.
SLOW_MS = 20_000
BLOCKS = """Decoding *ahead* helped.

```seamark
widget: table
columns: train/loss
columns: params/lr
```
"""


@pytest.fixture
def runs(ada):
    project = make_project(ada)
    made = [make_sample_run(project, name) for name in ("baseline", "decoded")]
    for run in made:
        write_values(run, {"params/lr": 0.1})
    return made


@pytest.fixture
def reader(
    browser: Browser, live_server: LiveServer
) -> Iterator[tuple[Page, list[str]]]:
    """A phone with a fresh profile, and its requests."""
    context = browser.new_context(
        viewport=PHONE,
        base_url=live_server.url,
        color_scheme="dark",
    )
    watch = Watch(context, urlsplit(live_server.url).netloc)
    asked: list[str] = []
    context.on("request", lambda each: asked.append(urlsplit(each.url).path))
    yield context.new_page(), asked
    assert not watch.faults
    assert context.cookies() == []
    context.close()


def test_a_report_is_written_shared_and_read_on_a_phone(visit, ada, runs, reader):
    page = visit(LISTED, ada)
    page.get_by_role("link", name="New report").click()
    page.get_by_label("Title").fill("What helped")
    page.get_by_role("button", name="Create report").click()
    page.get_by_label("Text in Markdown").fill(BLOCKS)
    preview = page.get_by_role("region", name="Preview")
    expect(preview).to_contain_text("Draft saved")
    page.get_by_role("button", name="Chart", exact=True).click()
    page.get_by_role("combobox", name="Metrics").fill("train/loss")
    page.get_by_role("button", name="Insert").click()
    expect(preview.locator(DRAWN)).to_be_visible(timeout=SLOW_MS)
    page.get_by_role("button", name="Save version 1").click()
    open_dialog(page)
    expect(page.get_by_text("including later runs and edits")).to_be_visible()
    assert violations(page) == []
    path = make_in_dialog(page)

    stranger, asked = reader
    stranger.goto(path, wait_until="networkidle")
    expect(stranger.get_by_text("Shared, view only")).to_be_visible()
    expect(stranger.locator("em")).to_have_text("ahead")
    expect(stranger.get_by_role("rowheader", name="decoded")).to_be_visible()
    expect(stranger.locator(DRAWN)).to_be_visible(timeout=SLOW_MS)
    expect(stranger.get_by_text("Some columns are not shared.")).to_be_visible()
    for name in ("Edit", "Share", "version 1"):
        expect(stranger.get_by_role("link", name=name)).to_have_count(0)
    assert [a for a in asked if not a.startswith((path, "/static/"))] == []
    assert violations(stranger) == []
    assert stranger.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


@pytest.fixture
def dashboard(runs, ada):
    rungs = [RungRequest(str(run.id)) for run in runs]
    ladder = create_ladder(runs[0].project, "faster", rungs)
    kinds = {
        "chart": (Place(0, 0, 6, 4), {"metrics": ["train/loss"]}),
        "value": (Place(6, 0, 3, 2), {"metric": "train/loss"}),
        "text": (Place(9, 0, 3, 2), {"text": "**hello**"}),
        "ledger": (Place(6, 2, 6, 4), {}),
        "table": (Place(0, 6, 12, 4), {"columns": ["train/loss", "params/lr"]}),
        "ladder": (Place(0, 10, 12, 5), {"ladder": str(ladder.id)}),
    }
    widgets = tuple(
        Widget(id=f"{number}" * 8, kind=kind, place=place, settings=settings)
        for number, (kind, (place, settings)) in enumerate(kinds.items())
    )
    board = Board(widgets=widgets)
    return create_dashboard(runs[0].project, "overview", board, user_id=ada.user_id)


def test_a_frozen_dashboard_shows_the_runs_it_had(visit, ada, runs, dashboard, reader):
    page = visit(f"/dashboards/{dashboard.id}/", ada)
    open_dialog(page)
    page.get_by_role("checkbox", name="Freeze").check()
    path = make_in_dialog(page)
    write_series(make_run(runs[0].project, "newest"), "train/loss", [1.0])

    stranger, _ = reader
    stranger.set_viewport_size(WIDE)
    stranger.goto(path, wait_until="networkidle")
    ladder = stranger.get_by_role("group", name="Ladder")
    ladder.scroll_into_view_if_needed()
    expect(ladder.locator(DRAWN)).to_be_visible(timeout=SLOW_MS)
    expect(stranger.get_by_role("rowheader", name="baseline")).to_be_visible()
    expect(stranger.get_by_text("newest")).to_have_count(0)
    assert violations(stranger) == []

    page = visit(f"/dashboards/{dashboard.id}/")
    expect(page.get_by_role("rowheader", name="newest")).to_be_visible()
