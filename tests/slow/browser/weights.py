"""Adds up what a page has a browser fetch, as the server sends it."""

from __future__ import annotations

from collections import Counter
from functools import cache

from django.test import Client
from playwright.sync_api import Page

SCRIPT, STYLE = "script", "style"
# What browsers take, by the packing that the server chooses of it. They take brotli only of
# servers with a certificate, and of their own machine.
GZIP, BROTLI = "gzip", "brotli"
ACCEPTED = {GZIP: "gzip, deflate", BROTLI: "gzip, deflate, br"}
# What the browser's own list of what it fetched calls scripts, styles and modules.
FETCHED = """() => performance.getEntriesByType("resource")
  .map(({ name }) => new URL(name).pathname).filter((path) => /\\.(js|css)$/.test(path))"""


def weigh(page: Page, packing: str) -> Counter[str]:
    """Return the bytes of scripts and styles that an open page has fetched, by kind.

    The server of the tests compresses nothing; what was fetched is asked for again, from
    where the real one answers.
    """
    weights: Counter[str] = Counter()
    for path in set(page.evaluate(FETCHED)):
        weights[SCRIPT if path.endswith(".js") else STYLE] += len(sent(path, packing))
    return weights


@cache
def sent(path: str, packing: str) -> bytes:
    """Return the body that a browser would be sent, compressed if the server does that."""
    response = Client().get(path, headers={"accept-encoding": ACCEPTED[packing]})
    assert response.status_code == 200, path
    # Read to its end, it closes itself.
    return b"".join(response)
