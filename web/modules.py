"""Lists the modules of a page's behaviors in its head.

A browser finds the imports of a module only after loading it: without this list, it
loads them in four rounds. There is no bundler, so each page lists its modules.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

from django.contrib.staticfiles import finders
from django.http import HttpRequest, HttpResponse
from django.templatetags.static import static

MAIN, BEHAVIOURS = "web/js/main.js", "web/js/behaviours.js"
# Placeholder in the base template.
PLACE = b"<!-- modules -->"
NAMED = re.compile(rb'data-behaviour="([a-z -]*)"')
# "chart": () => import("./charts/chart.js")
BEHAVIOUR = re.compile(r'"([a-z-]+)": \(\) => import\("(\./[^"]+)"\)')
# Static imports only: dynamic imports may never load.
IMPORT = re.compile(r'(?:\bfrom|^import)\s*"(\.{1,2}/[^"]+)"', re.MULTILINE)


class Modules:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if not response.streaming and PLACE in response.content:
            behaviours = behaviours_of(response.content)
            links = "\n  ".join(links_of(behaviours))
            response.content = response.content.replace(PLACE, links.encode(), 1)
        return response


def behaviours_of(page: bytes) -> frozenset[str]:
    """Return the behaviors that a page's elements name."""
    return frozenset(
        name for names in NAMED.findall(page) for name in names.decode().split()
    )


def modules_of(behaviours: frozenset[str]) -> list[str]:
    """Return the static files that behaviors and the main module import."""
    known = dict(BEHAVIOUR.findall(_text(BEHAVIOURS)))
    waiting = [_beside(BEHAVIOURS, known[name]) for name in behaviours if name in known]
    waiting += _imports(MAIN)
    found: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += _imports(name)
    return sorted(found)


@cache
def links_of(behaviours: frozenset[str]) -> list[str]:
    """Return the preload elements for the page's modules."""
    return [
        f'<link rel="modulepreload" href="{static(name)}">'
        for name in modules_of(behaviours)
    ]


def _imports(name: str) -> list[str]:
    return [_beside(name, address) for address in IMPORT.findall(_text(name))]


def _beside(name: str, address: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(name), address))


@cache
def _text(name: str) -> str:
    path = finders.find(name)
    assert isinstance(path, str), f"there is no {name}"
    return Path(path).read_text(encoding="utf-8")
