"""Many charts in one answer; charts that the client has cached are empty."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse

from tracker.errors import InvalidInput
from tracker.server.etags import (
    answered_lately,
    marked,
    not_modified,
    remember_answer,
    versions_held,
)
from web.figures.traces import Figure
from web.pages.charts.figure_columns import BUNDLE_TYPE, bundled, packed

# Limits of one answer: the charts on a large screen, and the lines of all.
MAX_CHARTS = 40
MAX_LINES_AT_ONCE = 200


@dataclass(frozen=True, slots=True)
class AskedChart:
    """One chart of a request: its key, its version, and the client's cached version."""

    key: str
    version: str
    since: str = ""

    @property
    def question(self) -> tuple[str, str, str]:
        return self.key, BUNDLE_TYPE, self.version


def check_count(name: str, charts: int, lines: int) -> None:
    """Refuse more than one answer may hold; one chart is never too much."""
    if not 1 <= charts <= MAX_CHARTS or (charts > 1 and lines > MAX_LINES_AT_ONCE):
        raise InvalidInput(
            name,
            f"must name 1 to {MAX_CHARTS} charts, of {MAX_LINES_AT_ONCE} lines together",
        )


def bundle_answer(
    request: HttpRequest,
    asked: Sequence[AskedChart],
    draw: Callable[[Sequence[int]], Sequence[Figure]],
    *,
    is_live: bool,
) -> HttpResponse:
    """Answer the charts; `draw` is given the places of those that have to be drawn."""
    held = versions_held(request)
    version = versioned([each.version for each in asked])
    if version in held or held.issuperset(each.version for each in asked):
        return not_modified(version)
    bodies: dict[int, bytes] = {}
    missing: list[int] = []
    for place, each in enumerate(asked):
        if each.version in held:
            continue
        known = None if each.since else answered_lately(each.question)
        if known is None:
            missing.append(place)
        else:
            bodies[place] = known[0]
    drawn = draw(missing) if missing else ()
    for place, figure in zip(missing, drawn, strict=True):
        each = asked[place]
        whole = {**figure, "live": is_live}
        bodies[place] = packed(whole, each.since, version=each.version)
        # A difference is useful to one client only, so cache whole figures.
        if not each.since:
            remember_answer(each.question, bodies[place], {})
    body = bundled([bodies.get(place, b"") for place in range(len(asked))])
    return marked(HttpResponse(body, content_type=BUNDLE_TYPE), version)


def versioned(question: object) -> str:
    return hashlib.blake2b(repr(question).encode(), digest_size=12).hexdigest()
