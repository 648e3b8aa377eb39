"""Histograms among the charts."""

import numpy as np
import pytest
from playwright.sync_api import expect

import agent
from tests.builders import make_project, make_run, records_message, write
from tests.slow.browser.test_run_page import DRAWN

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.mark.parametrize("steps", [1, 30])
def test_pointing_at_a_map_says_how_many_values_lie_there(visit, ada, steps):
    run = make_run(make_project(ada))
    values = [
        agent.Histogram(np.full(7, 2.0 + step), bins=1).encoded()
        for step in range(steps)
    ]
    write(run, [records_message("grads", values, kind="histogram")])
    page = visit(f"/runs/{run.id}/charts", ada)
    expect(page.locator(DRAWN)).to_have_count(1)

    plot = page.locator(".chart .nsewdrag").first
    box = plot.bounding_box()
    # Along the diagonal lie the values.
    for share in np.linspace(0.05, 0.95, 40):
        x, y = box["width"] * share, box["height"] * (1 - share)
        plot.hover(position={"x": x, "y": y}, force=True)
        hover = page.locator(".hoverlayer .hovertext")
        if hover.count() and "values around" in hover.first.text_content():
            break

    expect(page.locator(".hoverlayer .hovertext").first).to_contain_text(
        "values around"
    )
