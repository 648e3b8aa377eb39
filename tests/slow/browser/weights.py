"""Adds up the bytes of a page's scripts and styles, as the server sends them."""

from __future__ import annotations

from collections import Counter
from functools import cache

from django.test import Client
from playwright.sync_api import Page

SCRIPT, STYLE = "script", "style"
# Encodings that browsers accept: brotli only over TLS and from localhost.
GZIP, BROTLI = "gzip", "brotli"
ACCEPTED = {GZIP: "gzip, deflate", BROTLI: "gzip, deflate, br"}
# Scripts, styles and modules in the browser's resource timing.
FETCHED = """() => performance.getEntriesByType("resource")
  .map(({ name }) => new URL(name).pathname).filter((path) => /\\.(js|css)$/.test(path))"""


def weigh(page: Page, packing: str) -> Counter[str]:
    """Return the bytes of an open page's scripts and styles, by kind.

    The test server compresses nothing, so the files are requested again, through the
    code of the real server.
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
