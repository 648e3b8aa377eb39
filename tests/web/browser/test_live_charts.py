"""Charts of a run that is still going: they ask for what is new, and show all of it."""

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.builders import START, make_project, make_run, write_series
from tests.web.browser.test_run_page import DRAWN, is_figure, query_of, wait_until
from tests.web.browser.test_run_page import POLLS_MS as WAIT_MS
from tests.web.figures.plotly_schema import numbers

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SPIKE = 1_234.5
# What Plotly was given, and how far its vertical axis reaches.
SHOWN = """() => {
  const plot = document.querySelector(".chart__plot")
  return {
    lines: plot.data.map(({ x, y }) => [Array.from(x), Array.from(y)]),
    highest: plot._fullLayout.yaxis.range[1],
  }
}"""


@pytest.fixture
def run(ada):
    return make_run(make_project(ada))


def log(run, first, count, *, spike=None):
    values = np.sin(np.arange(first, first + count) / 50)
    if spike is not None:
        values[spike] = SPIKE
    steps = np.arange(first, first + count)
    write_series(run, "train/loss", values, steps=steps, times=START + steps * 1_000)


def refresh(page):
    """Look again now, as the page does by itself every few seconds."""
    page.evaluate(
        """() => document.querySelector(".chart")
             .dispatchEvent(new CustomEvent("chart-refresh"))"""
    )


def whole(page, run):
    """The lines that a reader who holds nothing is sent."""
    address = f"/runs/{run.id}/figures/series?path=train/loss"
    answer = page.request.get(
        page.url.partition("/runs/")[0] + address,
        headers={"Accept": "application/json"},
    )
    return answer.json()["data"]


@pytest.mark.parametrize("count", [300, 5_000])
def test_only_what_is_new_is_fetched_and_all_of_it_is_shown(
    visit, ada, page, run, count
):
    log(run, 0, count)
    with page.expect_response(is_figure) as first:
        visit(f"/runs/{run.id}/charts", ada)
    expect(page.locator(DRAWN)).to_be_visible()

    log(run, count, 40, spike=20)
    with page.expect_response(is_figure) as second:
        refresh(page)
    wait_until(page, lambda: page.evaluate(SHOWN)["highest"] >= SPIKE)
    after = page.evaluate(SHOWN)

    assert query_of(first.value).get("since") is None
    assert query_of(second.value)["since"] != [""]
    assert len(second.value.body()) < len(first.value.body()) / 2
    for (x, y), trace in zip(after["lines"], whole(page, run), strict=True):
        np.testing.assert_array_equal(np.array(x, float), numbers(trace["x"]))
        np.testing.assert_array_equal(np.array(y, float), numbers(trace["y"]))


def test_nothing_new_is_an_empty_answer_and_the_chart_stays(visit, ada, page, run):
    log(run, 0, 300)
    visit(f"/runs/{run.id}/charts", ada)
    expect(page.locator(DRAWN)).to_be_visible()
    before = page.evaluate(SHOWN)

    with page.expect_response(is_figure) as again:
        refresh(page)

    assert again.value.status == 304
    assert page.evaluate(SHOWN) == before


def test_points_that_come_late_are_put_in_their_place(visit, ada, page, run):
    log(run, 100, 300)
    visit(f"/runs/{run.id}/charts", ada)
    expect(page.locator(DRAWN)).to_be_visible()

    log(run, 0, 50, spike=10)
    with page.expect_response(is_figure):
        refresh(page)
    wait_until(page, lambda: page.evaluate(SHOWN)["highest"] >= SPIKE)

    assert page.evaluate(SHOWN)["lines"][0][0] == [*range(50), *range(100, 400)]


def test_a_visible_chart_looks_again_by_itself_and_a_hidden_page_does_not(
    visit, ada, page, run
):
    log(run, 0, 300)
    visit(f"/runs/{run.id}/charts", ada)
    expect(page.locator(DRAWN)).to_be_visible()
    with page.expect_response(is_figure, timeout=WAIT_MS):
        pass

    page.evaluate('Object.defineProperty(document, "hidden", { get: () => true })')
    asked = []
    page.on("request", lambda request: asked.append(is_figure(request)))
    page.wait_for_timeout(6_000)

    assert not any(asked)
