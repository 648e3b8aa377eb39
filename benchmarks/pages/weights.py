"""Prints how many bytes of script and style each page has a browser fetch.

    python -m benchmarks.pages.weights

As the server sends them, compressed, to a browser that has nothing yet; pages are those
of the routes, with much on them. The limits are held by the same test without -s; here
is by how much.
"""

from __future__ import annotations

import sys

import pytest

TEST = "tests/web/browser/test_every_page.py"


def main() -> int:
    return pytest.main(["-q", "-s", "--no-header", "-p", "no:cacheprovider", TEST])


if __name__ == "__main__":
    sys.exit(main())
