"""Text summaries of charts, for screen readers."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import expect

from tests.builders import make_project, make_run, write_series

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SUMMARY = """async ([data, layout]) => {
  const { summaryOf } = await import("/static/web/js/charts/chart_summary.js")
  return summaryOf(JSON.parse(data, (_, value) => value === "NaN" ? NaN : value), layout)
}"""
LINE = {"name": "a &lt;b&gt;", "x": [0, 1, 2], "y": [3, "NaN", 1]}
CASES = {
    "line": (
        [LINE],
        {},
        "a <b>: 2 points, last 1 at 2, minimum 1, maximum 3.",
    ),
    "date": (
        [{**LINE, "x": [0, 1000, 2000]}],
        {"xaxis": {"type": "date"}},
        "a <b>: 2 points, last 1 at 1 Jan 1970, 00:00:02 UTC, minimum 1, maximum 3.",
    ),
    "band": ([{**LINE, "hoverinfo": "skip"}], {}, "No data."),
    "nothing": (
        [{"name": "x", "x": [1], "y": ["NaN"]}],
        {},
        "x: no finite values.",
    ),
    "bars": (
        [{"type": "bar", "name": "forward", "text": ["3 ms", ""], "x": [3, 0]}],
        {},
        "forward: 3 ms.",
    ),
    "map": ([{"name": "grads", "z": [[1], [2]]}], {}, "grads: 2 rows of values."),
}


@pytest.mark.parametrize(("data", "layout", "said"), CASES.values(), ids=CASES)
def test_a_figure_is_put_into_words(modules, data, layout, said):
    assert modules.evaluate(SUMMARY, [json.dumps(data), layout]) == said


def test_a_chart_is_described_by_its_values(visit, ada):
    run = make_run(make_project(ada))
    write_series(run, "train/loss", [3.0, 2.0, 1.0])

    page = visit(f"/runs/{run.id}/charts", ada)

    chart = page.get_by_role("group", name="Chart of train/loss")
    expect(chart).to_have_accessible_description(
        "train/loss: 3 points, last 1 at 2, minimum 1, maximum 3."
    )
