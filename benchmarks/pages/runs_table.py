"""Measures the runs table of a project with very many runs, in a real browser.

    python -m benchmarks.pages.runs_table
    python -m benchmarks.pages.runs_table --runs 10000 --folder /var/tmp/many

Uses SQLite in a temporary folder (or in --folder, which is kept and reused), or the
database in SEAMARK_DATABASE_URL: an empty one, or one that this benchmark filled
before. A server of one process serves Chromium. Prints a table; asserts nothing.
"interactive" is the time from opening the address until the first rows are drawn and
the scripts listen; all other times end in the frame with the result. Scrolling is
continuous, three rows per frame, through rows that are not loaded.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
from playwright.sync_api import BrowserContext, Page, ViewportSize

from benchmarks.pages.installation import chromium, prepare, server, signed_in

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--runs", type=int, default=100_000)
parser.add_argument("--attributes", type=int, default=20)
parser.add_argument("--rounds", type=int, default=7)
parser.add_argument("--folder", type=Path, help="keep the data here")
OPTIONS = parser.parse_args()
prepare(OPTIONS.folder)

from benchmarks.many_runs import Fill  # noqa: E402
from benchmarks.pages.viewers import viewer  # noqa: E402
from tracker.models import Project, Run  # noqa: E402

SLOWEST_MS = 300_000
VIEWPORT: ViewportSize = {"width": 1440, "height": 900}
PAGE = "/w/many/runs/"
METRIC = "path:train/loss"
IDLE = "gpu_idle"
# The default columns, and the GPU's idle time.
COLUMNS = "&".join(f"column={key}" for key in ("state", IDLE, METRIC))

# Measured in the page itself, without the overhead of the protocol.
WATCH = """() => {
  const look = () => {
    const grid = document.querySelector(".runs-grid")
    const first = grid?.querySelector('[data-position="0"] a')
    if (first?.textContent) window.interactive = performance.now()
    else requestAnimationFrame(look)
  }
  requestAnimationFrame(look)
}"""
JUMP = """part => new Promise(resolve => {
  const grid = document.querySelector(".runs-grid"), begun = performance.now()
  const height = parseFloat(getComputedStyle(grid).getPropertyValue("--row"))
  const position = Math.round(part * (grid.ariaRowCount ?? grid.getAttribute("aria-rowcount")))
  grid.scrollTop = position * height
  const look = () => grid.querySelector(`[data-position="${position + 5}"] a`)?.textContent
    ? resolve(performance.now() - begun) : requestAnimationFrame(look)
  requestAnimationFrame(look)
})"""
SORT = """key => new Promise(resolve => {
  const grid = document.querySelector(".runs-grid"), begun = performance.now()
  const first = () => grid.querySelector('[data-position="0"] a')?.textContent
  const before = first()
  const head = [...grid.querySelectorAll("[role=columnheader]")].find(cell => cell.dataset.key === key)
  head.click()
  const look = () => first() && first() !== before
    ? resolve(performance.now() - begun) : requestAnimationFrame(look)
  requestAnimationFrame(look)
})"""
FILTER = """query => new Promise(resolve => {
  const field = document.querySelector("[name=query]"), begun = performance.now()
  const count = document.querySelector("[data-part=count]"), before = count.textContent
  field.value = query
  field.dispatchEvent(new Event("input", { bubbles: true }))
  const look = () => count.textContent !== before
    ? resolve(performance.now() - begun) : requestAnimationFrame(look)
  requestAnimationFrame(look)
})"""
GROUPED = """() => new Promise(resolve => {
  const look = () => document.querySelector(".runs-grid__row--group .runs-grid__count")
    ? resolve(performance.now()) : requestAnimationFrame(look)
  look()
})"""
# Each group's aggregates over all runs.
NUMBERS = """() => new Promise(resolve => {
  const text = (row) => [...row.querySelectorAll("[role=gridcell]")].map(cell => cell.textContent)
  const look = () => [...document.querySelectorAll(".runs-grid__row--group")]
    .every(row => text(row).slice(1).some(said => /[0-9]/.test(said)))
    ? resolve(performance.now()) : requestAnimationFrame(look)
  look()
})"""
# Duration of the slowest frame, and number of frames with empty visible rows.
SCROLL = """async count => {
  const grid = document.querySelector(".runs-grid")
  const height = parseFloat(getComputedStyle(grid).getPropertyValue("--row"))
  const isWaiting = (position) => !grid.querySelector(`[data-position="${position}"] a`)?.textContent
  let slowest = 0, waiting = 0
  for (let i = 0; i < count; i++) {
    const begun = performance.now()
    grid.scrollTop += 3 * height
    await new Promise(requestAnimationFrame)
    slowest = Math.max(slowest, performance.now() - begun)
    const first = Math.ceil(grid.scrollTop / height)
    const inSight = Math.floor(grid.clientHeight / height) - 1
    waiting += Array.from({ length: inSight }, (_, place) => first + place).some(isWaiting)
  }
  return [slowest, waiting]
}"""
GROUPS = {
    "in groups": "group=path:params/optimizer",
    "in groups by two columns": "&".join(
        f"group=path:params/{name}" for name in ("optimizer", "batch_size")
    ),
}
FRAMES = 300
GOAL_MS = 500


def main() -> None:
    if not Project.objects.filter(slug="runs").exists():
        began = time.perf_counter()
        Fill(OPTIONS.runs, OPTIONS.attributes).write()
        print(f"built in {time.perf_counter() - began:,.0f} s", flush=True)
    print(f"{Run.objects.count():,} runs\n")
    with server() as url, chromium() as browser:
        context = signed_in(browser, url, viewer(), VIEWPORT)
        # Reads from a cold disk may be slow.
        context.set_default_timeout(SLOWEST_MS)
        measure(context, f"{url}{PAGE}")


def measure(context: BrowserContext, address: str) -> None:
    opened(context, address)  # the server's first request is slower
    told: dict[str, list[float]] = {}

    def tell(name: str, milliseconds: float) -> None:
        told.setdefault(name, []).append(milliseconds)

    for number in range(OPTIONS.rounds):
        page = opened(context, address)
        tell(f"interactive, goal < {GOAL_MS}", page.evaluate("window.interactive"))
        tell("a scroll to the middle", page.evaluate(JUMP, 0.5))
        slowest, waiting = page.evaluate(SCROLL, FRAMES)
        tell(f"slowest of {FRAMES} frames while scrolling", slowest)
        tell(f"frames of these with rows that wait, of {FRAMES}", waiting)
        tell("a sort by a metric", page.evaluate(SORT, METRIC))
        tell("a sort by the name", page.evaluate(SORT, "name"))
        query = f"params/share < {0.1 + number / 1_000}"
        tell("a query for a tenth of the runs", page.evaluate(FILTER, query))
        page.close()
        page = opened(context, f"{address}?{COLUMNS}")
        tell("a sort by the idle share of GPUs", page.evaluate(SORT, IDLE))
        page.close()
        page = opened(context, f"{address}?sort=-path:params/optimizer&sort={METRIC}")
        tell(
            f"interactive, sorted by two columns, goal < {GOAL_MS}",
            page.evaluate("window.interactive"),
        )
        page.close()
        for name, keys in GROUPS.items():
            page = context.new_page()
            page.goto(f"{address}?{keys}", wait_until="commit")
            tell(f"{name}, goal < {GOAL_MS}", page.evaluate(GROUPED))
            tell(f"{name}, with all numbers", page.evaluate(NUMBERS))
            page.close()
    print("| runs table | p50, ms | most, ms |\n|---|---|---|")
    for name, times in told.items():
        print(f"| {name} | {np.median(times):.0f} | {max(times):.0f} |")


def opened(context: BrowserContext, address: str) -> Page:
    page = context.new_page()
    page.add_init_script(f"({WATCH})()")
    page.goto(address)
    page.wait_for_function("() => window.interactive")
    return page


if __name__ == "__main__":
    main()
