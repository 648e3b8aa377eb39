"""Results as Markdown (pure)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import truediv
from statistics import median

THOUSAND = 1_000.0
YES, NO = "yes", "**no**"
OF_FLOORS = ("of its floor", "of that with shared steps")


@dataclass(frozen=True, slots=True)
class Rate:
    """Result of one system in each round, or its error.

    `floors` are the labels of the floors to compare with: any series, and series with
    shared steps. `batch_seconds` is the server's CPU time per batch, if known.
    """

    label: str
    points_per_second: Sequence[float] = ()
    points: int = 0
    error: str = ""
    floors: tuple[str, str] = ("", "")
    batch_seconds: Sequence[float] = ()
    is_ours: bool = False
    is_peer_with_server: bool = False

    def of_floors(self, reached: Mapping[str, Sequence[float]]) -> list[str]:
        return [
            usual_ratio(self.points_per_second, reached.get(floor, ()))
            for floor in self.floors
        ]


@dataclass(frozen=True, slots=True)
class RateGoal:
    """Our goal relative to the database's floor, and to the best peer."""

    of_the_floor: float | None = None
    # Of the peers that write through a server, like us.
    times_a_peer: float | None = None

    def __str__(self) -> str:
        words = []
        if self.of_the_floor is not None:
            words.append(f"at least {self.of_the_floor:g} of its floor")
        if self.times_a_peer is not None:
            words.append(
                f"{self.times_a_peer:g} times the best peer that writes through a server"
            )
        return ", ".join(words)

    def verdict(self, rate: Rate, rates: Sequence[Rate]) -> str:
        """Return whether our rate meets the goal, and otherwise the missed parts."""
        speed = rate.points_per_second
        reached = {other.label: other.points_per_second for other in rates}
        missed = []
        floor = usual_quotient(speed, reached.get(rate.floors[0], ()))
        if self.of_the_floor is not None and floor and floor < self.of_the_floor:
            missed.append(f"{ratio(floor, 1.0)} of its floor")
        peers = [
            quotient
            for other in rates
            if other.is_peer_with_server
            and (quotient := usual_quotient(speed, other.points_per_second))
        ]
        if self.times_a_peer is not None and peers and min(peers) < self.times_a_peer:
            missed.append(f"{ratio(min(peers), 1.0)} × the best peer")
        return f"{NO}: {', '.join(missed)}" if missed else YES


@dataclass(frozen=True, slots=True)
class Size:
    """Bytes per point of each kind of values, or why there is no figure."""

    label: str
    cells: Sequence[str]
    points: int | None  # None: not measured


@dataclass(frozen=True, slots=True)
class Chart:
    """Seconds of the first answer, a new one and a repeated one, in every round.

    `another` are answers to new requests, `again` to the first one repeated. `shown` is
    the number of logged `spikes` in the answer.
    """

    label: str
    points: int = 0
    first: Sequence[float] = ()
    another: Sequence[float] = ()
    again: Sequence[float] = ()
    answer_bytes: int = 0
    spikes: int = 0
    shown: int = 0
    is_ours: bool = False
    is_peer: bool = False
    error: str = ""


@dataclass(frozen=True, slots=True)
class ChartGoal:
    """Goals for our charts, at the median; all spikes must be shown."""

    most_seconds: float | None = None
    most_bytes: int | None = None
    # Minimum ratio of the best peer's time to ours, for new requests.
    times_a_peer: float | None = None

    def __str__(self) -> str:
        words = []
        if self.most_seconds is not None:
            words.append(f"*another* and *again* within {1e3 * self.most_seconds:g} ms")
        if self.most_bytes is not None:
            words.append(f"at most {self.most_bytes:,} bytes")
        if self.times_a_peer is not None:
            words.append(
                f"*another* {self.times_a_peer:g} times as fast as the best peer"
            )
        return ", ".join([*words, "every spike in the answer"])

    def verdict(self, chart: Chart, charts: Sequence[Chart]) -> str:
        """Return whether our chart meets the goal, and otherwise the missed parts."""
        another, again = median(chart.another), median(chart.again)
        missed = []
        if self.most_seconds is not None and max(another, again) > self.most_seconds:
            missed.append("time")
        if self.most_bytes is not None and chart.answer_bytes > self.most_bytes:
            missed.append("bytes")
        peers = [median(c.another) for c in charts if c.is_peer and not c.error]
        if self.times_a_peer is not None and peers:
            times = min(peers) / another
            if times < self.times_a_peer:
                missed.append(f"{ratio(times, 1.0)} × the best peer")
        if chart.shown < chart.spikes:
            missed.append("spikes")
        return f"{NO}: {', '.join(missed)}" if missed else YES


def rates_table(
    rates: Sequence[Rate], *, ours: str, goal: RateGoal | None = None
) -> str:
    """Compare all systems with the machine's limit, and with our rate."""
    goal = goal or RateGoal()
    reached = {rate.label: rate.points_per_second for rate in rates}
    rows = []
    for rate in rates:
        if rate.error:
            rows.append([rate.label, rate.error])
            continue
        rows.append(
            [
                rate.label,
                in_thousands(median(rate.points_per_second)),
                f"{in_thousands(min(rate.points_per_second))} to "
                f"{in_thousands(max(rate.points_per_second))}",
                *rate.of_floors(reached),
                usual_ratio(reached.get(ours, ()), rate.points_per_second),
                f"{rate.points:,}",
                in_microseconds(rate.batch_seconds),
                goal.verdict(rate, rates) if rate.is_ours else "",
            ]
        )
    headings = ["system", "thousand points/s", "from, to", *OF_FLOORS]
    headings += [f"{ours} is × as fast", "points", "server's processor, a batch"]
    return table([*headings, "holds"], rows)


def batches_table(batches: Mapping[str, Sequence[Rate]]) -> str:
    """Compare ours with their floors, for batches of each size in turn."""
    rows = []
    headings = ["points in a batch"]
    for size, rates in batches.items():
        reached = {rate.label: rate.points_per_second for rate in rates}
        row = [size]
        headings = headings[:1]
        for rate in rates:
            speed = rate.points_per_second
            headings.append(rate.label)
            row.append(in_thousands(median(speed)) if speed else rate.error)
            if rate.is_ours:
                headings += OF_FLOORS
                row += rate.of_floors(reached)
        rows.append(row)
    return table(headings, rows)


def sizes_table(sizes: Sequence[Size], kinds: Sequence[str]) -> str:
    rows = [
        [
            size.label,
            *size.cells,
            "" if size.points is None else f"{size.points:,}",
        ]
        for size in sizes
    ]
    return table(["system", *kinds, "points"], rows)


def charts_table(
    charts: Sequence[Chart], *, ours: str, goal: ChartGoal | None = None
) -> str:
    """Compare charts with one of them; those that are ours with the goal, too."""
    goal = goal or ChartGoal()
    mine = next((chart for chart in charts if chart.label == ours), None)
    rows = []
    for chart in charts:
        if chart.error:
            rows.append([chart.label, chart.error])
            continue
        cells = [chart.label, f"{chart.points:,}", in_milliseconds(median(chart.first))]
        for name in ("another", "again"):
            middle = median(getattr(chart, name))
            of_ours = median(getattr(mine, name)) if mine and not mine.error else None
            cells += [in_milliseconds(middle), ratio(middle, of_ours)]
        cells += [f"{chart.answer_bytes:,}", f"{chart.shown} of {chart.spikes}"]
        rows.append([*cells, goal.verdict(chart, charts) if chart.is_ours else ""])
    times = "× Seamark's"
    headings = ["system", "points", "first", "another", times, "again", times]
    headings += ["bytes of the answer", "spikes in it", "holds"]
    return table(headings, rows)


def table(
    headings: Sequence[str], rows: Sequence[Sequence[str]], *, rule: str = "--:"
) -> str:
    """Return a table; a shorter row has the reason in its last cell."""
    full = [[*row, *[""] * (len(headings) - len(row))] for row in rows]
    rules = ["---", *[rule] * (len(headings) - 1)]
    lines = [headings, rules, *([safe(cell) for cell in row] for row in full)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def safe(cell: str) -> str:
    """Keep a peer's words from breaking the table."""
    return " ".join(cell.replace("|", "/").split())[:200]


def in_thousands(rate: float) -> str:
    value = rate / THOUSAND
    return f"{value:,.1f}" if value < THOUSAND / 10 else f"{value:,.0f}"


def in_milliseconds(seconds: float) -> str:
    value = seconds * THOUSAND
    return f"{value:,.1f} ms" if value < THOUSAND / 10 else f"{value:,.0f} ms"


def in_microseconds(seconds: Sequence[float]) -> str:
    return f"{1e6 * median(seconds):,.0f} µs" if seconds else "–"


def in_bytes(stored: float, *, free: float = 0.0) -> str:
    """Format the bytes on disk, and those in use, if that is less."""
    cell = f"{stored:.2f}"
    in_use = f"{stored - free:.2f}"
    return cell if in_use == cell else f"{cell} ({in_use} in use)"


def usual_ratio(dividends: Sequence[float], divisors: Sequence[float]) -> str:
    return ratio(usual_quotient(dividends, divisors), 1.0)


def usual_quotient(
    dividends: Sequence[float], divisors: Sequence[float]
) -> float | None:
    """Return the median of the ratios within a round; rounds differ more than those."""
    if not dividends or len(dividends) != len(divisors):
        return None
    return median(map(truediv, dividends, divisors))


def ratio(dividend: float | None, divisor: float | None) -> str:
    if dividend is None or not divisor:
        return "–"
    value = dividend / divisor
    return f"{value:.2f}" if value < 10 else f"{value:,.0f}"  # noqa: PLR2004 - digits worth reading
