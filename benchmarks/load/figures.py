"""Statistics of the requests (pure)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus

from benchmarks.load.wire import is_error
from benchmarks.peers.tables import in_milliseconds


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request; times are in seconds of one clock.

    A batch is due when its last point was logged. It may be sent after the previous one
    is stored and the server's requested wait is over.
    """

    sender: str
    due: float
    could_begin: float
    began: float
    ended: float
    status: int  # 0: no answer
    points: int = 0  # stored points
    is_told_to_wait: bool = False

    @property
    def is_stored(self) -> bool:
        return self.status == HTTPStatus.OK

    @property
    def is_refused(self) -> bool:
        return self.status == HTTPStatus.TOO_MANY_REQUESTS

    @property
    def answer_seconds(self) -> float:
        """Return the time since it was due, including waits for the previous batch."""
        return self.ended - self.due

    @property
    def late_seconds(self) -> float:
        """Return the delay added by the client."""
        return self.began - self.could_begin


@dataclass(frozen=True, slots=True)
class View:
    """One page that was looked at."""

    page: str
    began: float
    ended: float
    status: int

    @property
    def seconds(self) -> float:
        return self.ended - self.began


def percentile(values: Iterable[float], percent: float) -> float:
    """Return the least value that so many percent do not exceed; NaN of none."""
    ordered = sorted(values)
    if not ordered:
        return math.nan
    return ordered[max(0, math.ceil(percent / 100 * len(ordered)) - 1)]


def answer_percentile(exchanges: Iterable[Exchange], percent: float) -> float:
    return percentile((e.answer_seconds for e in exchanges if e.is_stored), percent)


def points_a_second(exchanges: Sequence[Exchange], *, since: float) -> float:
    """Return the stored points per second until the last one was stored."""
    stored = [exchange for exchange in exchanges if exchange.is_stored]
    if not stored:
        return 0.0
    seconds = max(exchange.ended for exchange in stored) - since
    return sum(exchange.points for exchange in stored) / seconds


def errors(statuses: Iterable[int]) -> int:
    return sum(map(is_error, statuses))


def in_statuses(statuses: Iterable[int]) -> str:
    counts = sorted(Counter(statuses).items())
    return ", ".join(f"{status or 'no answer'}: {many:,}" for status, many in counts)


def in_percentiles(exchanges: Sequence[Exchange]) -> str:
    cells = [
        f"p{percent} {in_milliseconds(answer_percentile(exchanges, percent))}"
        for percent in (50, 99)
    ]
    return f"acknowledged in {', '.join(cells)}"


def slowest_page(views: Iterable[View], percent: float) -> tuple[str, float]:
    """Return the page that is the slowest by this percentile."""
    seconds: dict[str, list[float]] = {}
    for view in views:
        seconds.setdefault(view.page, []).append(view.seconds)
    found = {page: percentile(some, percent) for page, some in seconds.items()}
    return max(found.items(), key=lambda item: item[1], default=("none", math.nan))


@dataclass(frozen=True, slots=True)
class Drain:
    """How one token got rid of its backlog."""

    clients: int
    points: int
    # Share of the backlog stored by then, 0 to 1.
    share: float
    seconds: float
    refused: int
    # While the server refused and both tokens had something left.
    contested_points: int

    @property
    def points_a_second(self) -> float:
        return self.points / self.seconds if self.points else 0.0

    @property
    def points_a_client(self) -> float:
        return self.contested_points / self.clients


def drains(
    exchanges: Sequence[Exchange],
    clients: Mapping[str, int],
    *,
    since: float,
    points_each: int,
) -> dict[str, Drain]:
    """Return the result of each token; `points_each` is the backlog of each client.

    Tokens without requests are left out.
    """
    by_token = {
        token: [e for e in exchanges if e.sender == token]
        for token in clients
        if any(e.sender == token for e in exchanges)
    }
    begins = min((e.ended for e in exchanges if e.is_refused), default=math.inf)
    ends = min(
        (last_stored(some, default=since) for some in by_token.values()), default=since
    )
    return {
        token: Drain(
            clients=clients[token],
            points=sum(e.points for e in some),
            share=sum(e.points for e in some) / (points_each * clients[token]),
            seconds=last_stored(some, default=since) - since,
            refused=sum(e.is_refused for e in some),
            contested_points=sum(e.points for e in some if begins < e.ended <= ends),
        )
        for token, some in by_token.items()
    }


def last_stored(exchanges: Iterable[Exchange], *, default: float) -> float:
    return max((e.ended for e in exchanges if e.is_stored), default=default)


def is_shared_fairly(found: Mapping[str, Drain]) -> bool | None:
    """Return whether clients of the smallest token received the most each.

    None: no request was rejected while all tokens had data left, so the test shows
    nothing.
    """
    tokens = sorted(found.values(), key=lambda drain: drain.clients)
    if len(tokens) < 2 or not any(drain.contested_points for drain in tokens):  # noqa: PLR2004 - two to compare
        return None
    return tokens[0].points_a_client >= max(d.points_a_client for d in tokens[1:])
