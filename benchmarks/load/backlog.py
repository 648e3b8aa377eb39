"""LD-04 and LD-08: clients with a backlog, and the others meanwhile."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping, Sequence
from http import HTTPStatus

from benchmarks.load.case import Size, described, is_all_stored
from benchmarks.load.figures import (
    Drain,
    View,
    answer_percentile,
    drains,
    in_statuses,
    is_shared_fairly,
    percentile,
    slowest_page,
)
from benchmarks.load.flood import FEW, LIVE, MANY, Flood, flood
from benchmarks.load.table import Bound, Row, clients_of
from benchmarks.load.tracker import Tracker
from benchmarks.peers.tables import in_milliseconds, in_thousands, ratio

MAX_PAGE_SECONDS = 1.0
MAX_SLOWER = 2.0
# Expected answers while the server is behind.
IN_ORDER = (HTTPStatus.OK, HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE)


def come_back(case: str, tracker: Tracker, size: Size, database: str) -> list[Row]:
    found = asyncio.run(flood(tracker, size))
    by_token = drains(
        found.record.of(MANY, FEW),
        found.clients,
        since=found.began,
        points_each=found.points // (found.clients[MANY] + found.clients[FEW]),
    )
    return [
        whole_row(tracker, size, found, by_token, case=case, database=database),
        *(token_row(case, database, drain) for drain in by_token.values()),
        unharmed_row(database, size, found),
    ]


def whole_row(
    tracker: Tracker,
    size: Size,
    found: Flood,
    by_token: Mapping[str, Drain],
    *,
    case: str,
    database: str,
) -> Row:
    sent = found.record.of(MANY, FEW)
    seen = [view for view in found.views if view.began >= found.began]
    run = (
        f"{described(tracker, size)}; each has {size.backlog_minutes:g} min to make up"
        f" for, {found.points:,} points in all, {found.batches:,} batches;"
        f" {size.viewers} people look at pages"
    )
    figures = [
        f"drained in {max((d.seconds for d in by_token.values()), default=0):.0f} s"
        if found.is_drained
        else f"not drained in {size.most_seconds:.0f} s",
        in_statuses(exchange.status for exchange in sent),
        pages_in_words(found.views, found.began),
    ]
    bounds = [
        *page_bounds(seen),
        Bound("200, 429 and 503 alone", all(e.status in IN_ORDER for e in sent)),
        Bound("429 with Retry-After", is_told_to_wait(found)),
        Bound("each of the few gets no less", is_shared_fairly(by_token)),
        Bound("drained", found.is_drained),
        is_all_stored(tracker, found.record),
    ]
    clients = clients_of(sent, due=found.batches, busy=found.busy)
    return Row(case, database, run, figures, bounds, clients)


def page_bounds(seen: Sequence[View]) -> list[Bound]:
    slow = percentile((view.seconds for view in seen), 95)
    words = f"pages p95 ≤ {in_milliseconds(MAX_PAGE_SECONDS)}"
    return [
        Bound(words, slow <= MAX_PAGE_SECONDS),
        Bound("every page is shown", all(v.status == HTTPStatus.OK for v in seen)),
    ]


def token_row(case: str, database: str, drain: Drain) -> Row:
    figures = [
        f"{in_thousands(drain.points_a_second)} thousand points/s stored",
        f"{math.floor(100 * drain.share)} % of the backlog drained in {drain.seconds:.0f} s",
        f"429: {drain.refused:,}",
        f"while both were there and one was refused, {drain.points_a_client:,.0f}"
        " points of each client stored",
    ]
    return Row(case, database, f"the token of {drain.clients:,} clients", figures, [])


def unharmed_row(database: str, size: Size, found: Flood) -> Row:
    """LD-08: clients without a backlog."""
    live = found.record.of(LIVE)
    alone = [exchange for exchange in live if exchange.due < found.began]
    beside = [exchange for exchange in live if exchange.due >= found.began]
    before, after = (answer_percentile(some, 95) for some in (alone, beside))
    figures = [
        f"acknowledged p95 {in_milliseconds(before)} alone,"
        f" {in_milliseconds(after)} meanwhile: {ratio(after, before)} ×",
        in_statuses(exchange.status for exchange in beside),
    ]
    run = (
        f"meanwhile, a third token: {size.live_clients} clients with a batch every"
        f" {size.every_seconds:g} s"
    )
    bound = Bound(f"p95 ≤ {MAX_SLOWER:g} ×", after <= MAX_SLOWER * before)
    return Row("LD-08", database, run, figures, [bound])


def is_told_to_wait(found: Flood) -> bool | None:
    refused = [exchange for exchange in found.record.exchanges if exchange.is_refused]
    return all(exchange.is_told_to_wait for exchange in refused) if refused else None


def pages_in_words(views: Sequence[View], began: float) -> str:
    alone = percentile((view.seconds for view in views if view.began < began), 95)
    seen = [view for view in views if view.began >= began]
    page, slow = slowest_page(seen, 95)
    return (
        f"{len(seen):,} pages, p95 {in_milliseconds(percentile([v.seconds for v in seen], 95))}"
        f" ({in_milliseconds(alone)} before), slowest: {page} {in_milliseconds(slow)},"
        f" {in_statuses(view.status for view in seen)}"
    )
