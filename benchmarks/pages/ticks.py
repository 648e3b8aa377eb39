"""Measures the main thread's work of an idle page."""

from __future__ import annotations

from playwright.sync_api import CDPSession, Page

# The interval of a page's own work.
TICK_SECONDS = 5.0


def watch_processor(page: Page) -> CDPSession:
    client = page.context.new_cdp_session(page)
    # CPU time of the process, which other programs hardly change.
    client.send("Performance.enable", {"timeDomain": "threadTicks"})
    return client


def measured(page: Page, client: CDPSession, ticks: int) -> float:
    """Return the main thread's work per tick in milliseconds, for each of the ticks."""
    before = task_seconds(client)
    page.wait_for_timeout(ticks * TICK_SECONDS * 1_000)
    return (task_seconds(client) - before) * 1_000 / ticks


def task_seconds(client: CDPSession) -> float:
    answer = client.send("Performance.getMetrics")
    return next(m["value"] for m in answer["metrics"] if m["name"] == "TaskDuration")
