"""The clicks that frequent tasks need on a project with a sweep of 60 runs."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.slow.browser.conftest import address_now
from tests.sweep_project import SweepProject, make_sweep_project
from tracker.models import Member

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

MOST = 3
Visit = Callable[..., Page]
HOME = "/w/ada-workspace/imagenet-vit/"
# Two seeds of each of five settings.
TEN = "/lr(3|1)e-4_wd0.05.*seed[01]|lr1e-3_wd0.05_mixup.*seed[01]/"


class Clicks:
    """Clicks as a user does, and counts."""

    def __init__(self) -> None:
        self.count = 0

    def on(self, target: Locator) -> None:
        self.count += 1
        assert self.count <= MOST
        target.click()


@pytest.fixture
def sweep(ada: Member) -> SweepProject:
    return make_sweep_project(ada)


def test_the_tasks_of_every_day_take_at_most_three_clicks(
    visit: Visit, ada: Member, sweep: SweepProject
) -> None:
    find_the_best_run(visit(HOME, ada), Clicks(), sweep)
    see_why_a_run_failed(visit("/", ada), Clicks())
    compare_two_seeds_of_five_settings(visit(HOME, ada), Clicks())
    send_exactly_this_chart(visit(f"/runs/{sweep.best.id}/charts", ada), Clicks())
    export_the_table(visit(HOME, ada), Clicks())


def find_the_best_run(page: Page, clicks: Clicks, sweep: SweepProject) -> None:
    clicks.on(page.get_by_role("columnheader").filter(has_text="top1_accuracy"))
    first = page.locator(".runs-grid__row[data-position='0'] .runs-grid__link")
    expect(first).to_have_text(re.compile(r"lr3e-4_wd0\.05_mixup"))
    clicks.on(first)

    expect(page.get_by_role("heading", name=re.compile("lr3e-4"))).to_be_visible()
    assert clicks.count == 2


def see_why_a_run_failed(page: Page, clicks: Clicks) -> None:
    clicks.on(page.get_by_role("link", name="6", exact=True))
    expect(page.locator("[data-part=count]")).to_contain_text("6 of 64 runs")
    clicks.on(page.get_by_role("link", name=re.compile("lr1e-3_wd0.05_mixup.*seed2")))

    expect(page.get_by_text("Why it failed")).to_be_visible()
    expect(page.locator(".stage__raised")).to_contain_text("CUDA out of memory")
    assert clicks.count == 2


def compare_two_seeds_of_five_settings(page: Page, clicks: Clicks) -> None:
    page.keyboard.press("/")
    page.keyboard.type(TEN)
    expect(page.locator("[data-part=count]")).to_contain_text("of 64 runs")
    clicks.on(page.locator(".runs-grid__row--head .runs-grid__mark"))
    clicks.on(page.get_by_role("link", name="Compare").last)

    expect(page.locator(".compare-run")).to_have_count(10)
    expect(page.locator(".chart[data-drawn=true]").first).to_be_visible()
    assert clicks.count == 2


def send_exactly_this_chart(page: Page, clicks: Clicks) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.locator("input[type=range]").fill("0.5")
    expect(page).to_have_url(re.compile("smoothing=0.5"))
    chart = page.locator(".chart[data-drawn=true][data-path='train/loss']")
    chart.hover()
    clicks.on(chart.get_by_role("button", name="More"))
    clicks.on(page.get_by_role("menuitem", name="Copy link"))
    expect(page.locator(".toast")).to_contain_text("Link copied")
    link = page.evaluate("navigator.clipboard.readText()")
    assert "full=" in link
    assert "smoothing=0.5" in link
    assert clicks.count == 2

    page.goto(link)

    full = page.locator(".chart--full[data-drawn=true]")
    expect(full).to_have_attribute("data-path", "train/loss")
    assert "smoothing=0.5" in address_now(page)


def export_the_table(page: Page, clicks: Clicks) -> None:
    with page.expect_download() as download:
        clicks.on(page.get_by_role("link", name="CSV"))

    lines = download.value.path().read_text().splitlines()
    assert len(lines) == 65
    assert clicks.count == 1
