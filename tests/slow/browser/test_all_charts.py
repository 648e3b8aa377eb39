"""All kinds of charts: names, links, and Plotly's own buttons."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

import agent
from tests.builders import (
    make_project,
    make_run,
    points_message,
    records_message,
    set_message,
    write,
    write_series,
    write_values,
)
from tests.ladder_runs import Job, make_measured_run
from tests.slow.browser.test_hostile_texts import UNTOUCHED
from tests.tracker.api.v1.test_files import add as add_file
from tests.web.sample_run import settle
from tracker.actions.dashboards import create_dashboard
from tracker.actions.ladders import RungRequest, create_ladder
from tracker.boards.board import Board, Widget
from tracker.models import Member, Project, Run

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

LINK = "<a href='//evil.test'>x</a>"
BOLD = "<b>y</b>%{y}<i>%{customdata}</i>"
SCATTER = "/w/ada-workspace/vision/compare?runs={0},{1}&tab=scatter&x=params/{2}&y=loss"
DRAWN = "[data-drawn='true']"
RANGE = """chart => {
  const { xaxis } = chart.querySelector(".js-plotly-plot")._fullLayout
  return xaxis.range.map((end) => xaxis.r2l(end))
}"""
CLOUDLESS = """() => [...document.querySelectorAll(".js-plotly-plot")].every(
  ({ _context: { plotlyServerURL, showSendToCloud, displaylogo } }) =>
    plotlyServerURL === "" && !showSendToCloud && !displaylogo)"""
DRAG = "chart => chart.querySelector('.js-plotly-plot')._fullLayout.dragmode"


@dataclass(frozen=True)
class Drawn:
    """The location of a chart, and names in its drawing, title or legend."""

    address: str
    names: tuple[str, ...]
    chart: str = f".chart{DRAWN}"


def two_runs(project: Project) -> list[Run]:
    runs = [make_run(project, name, "finished") for name in (LINK, BOLD)]
    for place, run in enumerate(runs):
        write_series(run, LINK, [3.0, 2.0, 1.0])
        write_values(run, {f"params/{LINK}": place, "loss": 0.5 + place})
        settle(run)
    return runs


def of_a_run(project: Project, _: Member) -> Drawn:
    run = two_runs(project)[0]
    return Drawn(f"/runs/{run.id}/charts", (LINK,))


def of_a_comparison(project: Project, _: Member) -> Drawn:
    runs = ",".join(str(run.id) for run in two_runs(project))
    return Drawn(f"/w/ada-workspace/vision/compare?runs={runs}", (LINK, BOLD))


def scatter(project: Project, _: Member) -> Drawn:
    first, second = two_runs(project)
    return Drawn(SCATTER.format(first.id, second.id, LINK), (LINK, BOLD))


def first_page(project: Project, _: Member) -> Drawn:
    return Drawn(f"/runs/{measured(project, LINK).id}/", (LINK,))


def hardware(project: Project, _: Member) -> Drawn:
    return Drawn(f"/runs/{measured(project, LINK).id}/hardware", (LINK,))


def measured(project: Project, stage: str) -> Run:
    """A run that was watched for five minutes, in a stage of this name."""
    run = make_run(project, LINK, "finished", stage=stage)
    prefix = f"monitoring/{stage}"
    cores = np.linspace(1, 2, 300)
    busy = np.linspace(30, 60, 300)
    write(
        run,
        [
            points_message(f"{prefix}/job/cpu_cores", cores),
            points_message(f"{prefix}/gpu/0/utilization_percent", busy),
            set_message(f"{prefix}/facts/effective_cores", 2.0),
            set_message(f"{prefix}/facts/gpu_count", 1),
            set_message(f"{prefix}/facts/gpu/0/name", BOLD),
        ],
        stage=stage,
    )
    settle(run)
    return run


def ladder(project: Project, _: Member) -> Drawn:
    runs = [make_measured_run(project, Job(name)) for name in (LINK, BOLD)]
    made = create_ladder(project, "faster", [RungRequest(str(r.id)) for r in runs])
    return Drawn(f"/ladders/{made.id}/", (LINK, BOLD))


def widgets(project: Project, member: Member) -> Drawn:
    two_runs(project)
    chart = Widget(id="c0c0c0c0", kind="chart", settings={"metrics": [LINK]})
    made = create_dashboard(
        project, LINK, Board(widgets=(chart,)), user_id=member.user_id
    )
    return Drawn(f"/dashboards/{made.id}/", (LINK, BOLD))


def histograms(project: Project, _: Member) -> Drawn:
    run = make_run(project, LINK, "finished")
    values = [
        agent.Histogram(np.full(7, 2.0 + step), bins=4).encoded() for step in range(30)
    ]
    write(run, [records_message(LINK, values, kind="histogram")])
    return Drawn(f"/runs/{run.id}/charts", (LINK,))


def uploaded(project: Project, _: Member) -> Drawn:
    run = make_run(project, LINK, "finished")
    bars = {"type": "bar", "name": LINK, "x": [LINK, "b"], "y": [1, 2]}
    # A template that would put a link together.
    dots = {
        "type": "scatter",
        "x": ["b"],
        "y": [1],
        "text": ["a"],
        "mode": "text",
        "texttemplate": "<%{text} href='//evil.test'>z",
    }
    layout = {"title": {"text": LINK}, "showlegend": True}
    content = json.dumps({"data": [bars, dots], "layout": layout}).encode()
    add_file(run, "figure", content, name="figure.plotly.json")
    return Drawn(f"/runs/{run.id}/files?path=figure", (LINK,), f".files__figure{DRAWN}")


KINDS: dict[str, Callable[[Project, Member], Drawn]] = {
    "a run": of_a_run,
    "a comparison": of_a_comparison,
    "scatter": scatter,
    "first page": first_page,
    "hardware": hardware,
    "ladder": ladder,
    "widgets": widgets,
    "histograms": histograms,
    "uploaded": uploaded,
}


@pytest.fixture
def project(ada, settings, tmp_path) -> Project:
    settings.DATA_FOLDER = tmp_path
    return make_project(ada)


@pytest.mark.parametrize("kind", KINDS)
def test_names_are_shown_letter_for_letter_and_nothing_leads_away(
    visit, ada, project, kind
):
    drawn = KINDS[kind](project, ada)
    page = visit(drawn.address, ada)
    expect(page.locator(drawn.chart).first).to_be_visible()

    plots = page.locator(f"{drawn.chart} .nsewdrag")
    for plot in plots.all():
        plot.hover(force=True)
    for name in drawn.names:
        expect(page.locator("main")).to_contain_text(name)
    assert page.locator("svg.main-svg a").count() == 0
    assert page.evaluate(UNTOUCHED) == []
    expect_no_cloud(page)


def expect_no_cloud(page: Page) -> None:
    """No button uploads a chart to the maker of the library, and none leads there."""
    titles = page.locator(".modebar-btn").evaluate_all(
        "buttons => buttons.map(button => button.dataset.title ?? '')"
    )
    assert not [title for title in titles if "hare" in title or "loud" in title]
    assert page.locator(".modebar-btn--logo, .modebar a[href^=http]").count() == 0
    # Nor does any script draw otherwise than with these settings.
    assert page.locator(".js-plotly-plot").count() > 0
    assert page.evaluate(CLOUDLESS)


def test_each_button_of_a_hardware_chart_does_what_it_says(visit, ada, project):
    run = measured(project, "train")
    page = visit(f"/runs/{run.id}/hardware", ada)
    chart = page.locator(f"#hardware-figure{DRAWN}")
    expect(chart).to_be_visible()
    whole = chart.evaluate(RANGE)

    with page.expect_download() as saved:
        press(chart, "Download")
    assert Path(saved.value.path()).read_bytes().startswith(b"\x89PNG")

    press(chart, "Pan")
    expect_drag(chart, "pan")
    press(chart, "Zoom")
    expect_drag(chart, "zoom")
    drag(page, chart, 0.3, 0.6)
    zoomed = until(chart, lambda ends: length(ends) < 0.5 * length(whole))

    press(chart, "Pan")
    drag(page, chart, 0.6, 0.4)
    moved = until(chart, lambda ends: ends[0] > zoomed[0])
    assert length(moved) == pytest.approx(length(zoomed), rel=0.01)

    press(chart, "Autoscale")
    until(chart, lambda ends: length(ends) > 0.9 * length(whole))


def until(chart: Locator, holds: Callable[[list[float]], bool]) -> list[float]:
    """Return the ends of the horizontal axis once they are as they should be."""
    while not holds(ends := chart.evaluate(RANGE)):
        chart.page.wait_for_timeout(50)
    return ends


def length(ends: list[float]) -> float:
    return ends[1] - ends[0]


def press(chart: Locator, title: str) -> None:
    chart.hover()
    chart.locator(f".modebar-btn[data-title^='{title}']").click()


def expect_drag(chart: Locator, mode: str) -> None:
    active = chart.locator(".modebar-btn.active")
    expect(active).to_have_attribute("data-val", mode)
    assert chart.evaluate(DRAG) == mode


def drag(page: Page, chart: Locator, start: float, end: float) -> None:
    box = chart.locator(".nsewdrag").first.bounding_box()
    assert box is not None
    height = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] * start, height)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * end, height, steps=5)
    page.mouse.up()
