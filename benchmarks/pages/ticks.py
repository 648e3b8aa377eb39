"""Measures what the main thread of a page that is left alone does by itself."""

from __future__ import annotations

from playwright.sync_api import CDPSession, Page

# What a page does by itself every five seconds.
TICK_SECONDS = 5.0


def watch_processor(page: Page) -> CDPSession:
    client = page.context.new_cdp_session(page)
    # Of its own processor time: other work on the machine hardly changes that.
    client.send("Performance.enable", {"timeDomain": "threadTicks"})
    return client


def measured(page: Page, client: CDPSession, ticks: int) -> float:
    """Return what the main thread did in so many ticks, in milliseconds for each."""
    before = task_seconds(client)
    page.wait_for_timeout(ticks * TICK_SECONDS * 1_000)
    return (task_seconds(client) - before) * 1_000 / ticks


def task_seconds(client: CDPSession) -> float:
    answer = client.send("Performance.getMetrics")
    return next(m["value"] for m in answer["metrics"] if m["name"] == "TaskDuration")
