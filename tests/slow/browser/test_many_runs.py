"""The runs table with ten thousand runs: the browser's work."""

from __future__ import annotations

import pytest
from playwright.sync_api import CDPSession, expect

from tests.builders import make_project
from tests.slow.browser.many_runs import add_runs
from tracker.models import Attribute, Stage, State

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

MANY = 10_000
# Milliseconds for a jump to a place that is not loaded, on two slow, shared cores.
SLOWEST_JUMP_MS = 3_000
MAX_ROWS_DRAWN = 80
STEPS = 60


def busy_seconds(watched: CDPSession) -> float:
    """Return how long the page's main thread has worked since it is watched."""
    metrics = watched.send("Performance.getMetrics")["metrics"]
    return {metric["name"]: metric["value"] for metric in metrics}["TaskDuration"]


def test_ten_thousand_runs_scroll(visit, ada):
    project = make_project(ada)
    runs = add_runs(project, MANY)
    Stage.objects.bulk_create(
        [Stage(run=run, name="train", state=State.FINISHED) for run in runs],
        batch_size=1_000,
    )
    Attribute.objects.bulk_create(
        [
            Attribute(
                run=run,
                project=project,
                path=f"train/metric {number}",
                kind="float_series",
                number=number,
            )
            for run in runs
            for number in range(6)
        ],
        batch_size=2_000,
    )
    page = visit("/w/ada-workspace/vision/", ada)
    expect(page.get_by_text("10,000 runs")).to_be_visible()

    jump_ms = page.evaluate(JUMP, 28 * 7_000)
    watched = page.context.new_cdp_session(page)
    watched.send("Performance.enable")
    before = busy_seconds(watched)
    page.evaluate(SCROLL, STEPS)
    step_ms = (busy_seconds(watched) - before) / STEPS * 1_000
    sort_ms = page.evaluate(SORT)

    print(  # noqa: T201 - figures for whoever runs it with -s
        f"\n10,000 runs: rows far down appear after {jump_ms:.0f} ms, "
        f"a scroll step costs {step_ms:.1f} ms of main thread, "
        f"sorting by a metric takes {sort_ms:.0f} ms"
    )
    # The number of elements depends on the window, not on the number of runs.
    assert page.locator(".runs-grid__row").count() < MAX_ROWS_DRAWN
    assert jump_ms < SLOWEST_JUMP_MS


# Time until rows far down the table are shown.
JUMP = """top => new Promise(resolve => {
  const grid = document.querySelector(".runs-grid"), start = performance.now()
  grid.scrollTop = top
  const look = () => grid.querySelector(".runs-grid__row--waiting:not([hidden])") || !grid.querySelector(`[data-position="${top / 28 + 5}"]`)
    ? requestAnimationFrame(look) : resolve(performance.now() - start)
  requestAnimationFrame(look)
})"""
# One step in each frame, through rows that are loaded.
SCROLL = """async count => {
  const grid = document.querySelector(".runs-grid")
  for (let i = 0; i < count; i++) {
    grid.scrollTop += 28 * 3
    await new Promise(requestAnimationFrame)
  }
}"""
SORT = """() => new Promise(resolve => {
  const start = performance.now()
  const head = [...document.querySelectorAll("[role=columnheader]")].find(cell => cell.textContent.includes("metric 2"))
  head.click()
  const look = () => head.ariaSort === "descending" ? resolve(performance.now() - start) : requestAnimationFrame(look)
  look()
})"""
