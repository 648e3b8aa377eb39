"""Pages stay light: bytes of script and style, as they come over the wire."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from playwright.sync_api import Page

from tests.web.browser.test_every_page import EXPECTED
from tests.web.browser.weights import SCRIPT, STYLE, weigh
from tests.web.every_page import make_full, pages

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.timeout(1200),
]

LIGHT, WITH_CHARTS = 100_000, 700_000
# Swagger's own page of the API.
NOT_OURS = "api"


@pytest.fixture
def things(ada, settings, tmp_path):
    settings.DATA_FOLDER = tmp_path
    return make_full(ada)


def test_pages_are_light(visit, watch, client_of, things):
    table, heavy = [], {}
    for name, address in pages(things, client_of(things.member)).items():
        if name == NOT_OURS:
            continue
        page = visit(address, things.member)
        weights = weigh(page)
        total, limit = weights.total(), WITH_CHARTS if has_charts(page) else LIGHT
        table.append((name, weights[SCRIPT], weights[STYLE], limit))
        if total >= limit:
            heavy[name] = total
    watch.faults = [
        fault for fault in watch.faults if not any(part in fault for part in EXPECTED)
    ]

    print_table(table)
    assert heavy == {}


def has_charts(page: Page) -> bool:
    return page.evaluate("() => 'Plotly' in window")


def print_table(rows: Iterable[tuple[str, int, int, int]]) -> None:
    lines = [f"{'page':40} {'script':>8} {'style':>8} {'both':>8} {'limit':>8}  kB"]
    for name, *sizes, limit in rows:
        numbers = (size / 1000 for size in (*sizes, sum(sizes), limit))
        lines.append(f"{name[:40]:40}" + "".join(f" {each:8.1f}" for each in numbers))
    print("", *lines, sep="\n")  # noqa: T201 - for whoever runs it with -s
