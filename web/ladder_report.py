"""A ladder as it is printed: a sentence, a table, and bars without a script (pure)."""

from __future__ import annotations

from dataclasses import dataclass

from tracker.queries.ladders import LadderView
from tracker.queries.verdicts import NOT_ENOUGH_STEPS, Verdict, quoted
from web.figures.ladder import milliseconds_text
from web.ladder_bars import colours_of, legend_of
from web.rung_cards import RungCard, cards_of
from web.templatetags.format import number

MILLISECONDS = 1_000
WHOLE = 100.0


@dataclass(frozen=True, slots=True)
class BarPart:
    """A stretch of a bar, in hundredths of the longest one."""

    name: str
    colour: str
    start: float
    length: float


@dataclass(frozen=True, slots=True)
class ReportBar:
    card: RungCard
    parts: tuple[BarPart, ...]
    total: str  # its length as a time, or why there is none


@dataclass(frozen=True, slots=True)
class LadderReport:
    sentence: str
    cards: list[RungCard]
    bars: list[ReportBar]
    legend: list[tuple[str, str]]
    has_gpus: bool
    has_cost: bool


def report_of(ladder: LadderView, *, per_example: bool) -> LadderReport:
    """Put together what the page shows."""
    cards = cards_of(ladder)
    parts = [card.parts(per_example=per_example) for card in cards]
    colours = colours_of(ladder)
    longest = max((sum(seconds for _, seconds in each) for each in parts), default=0.0)
    return LadderReport(
        sentence=sentence_of(ladder),
        cards=cards,
        bars=[
            _bar(card, each, colours, longest)
            for card, each in zip(cards, parts, strict=True)
        ],
        legend=legend_of(ladder),
        has_gpus=any(card.rung.gpu_count for card in cards),
        has_cost=any(card.cost for card in cards),
    )


def _bar(
    card: RungCard,
    parts: list[tuple[str, float]],
    colours: dict[str, str],
    longest: float,
) -> ReportBar:
    lengths = dict(parts)
    placed, start = [], 0.0
    # In the order of the legend, so that like parts stand below each other.
    for name, colour in colours.items():
        length = WHOLE * lengths.get(name, 0.0) / longest if longest else 0.0
        if length:
            placed.append(BarPart(name, colour, round(start, 3), round(length, 3)))
            start += length
    total = milliseconds_text(sum(lengths.values()) * MILLISECONDS)
    return ReportBar(card, tuple(placed), total if parts else NOT_ENOUGH_STEPS)


def sentence_of(ladder: LadderView) -> str:
    """Say in words what the whole ladder came to."""
    climb, count = ladder.climb, len(ladder.rungs) - 1
    if climb is None:
        return "Nothing can be compared with the baseline yet."
    changes = "one change" if count == 1 else f"{count} changes"
    change, baseline = climb.change, "the baseline"
    if climb.from_label != "baseline":
        baseline += f" “{climb.from_label}”"
    if change.verdict is Verdict.SAME:
        said = f"After {changes}, “{climb.to_label}” is about as fast as {baseline}"
        return f"{said}."
    times = number(float(f"{change.ratio:.2g}"))
    said = (
        f"After {changes}, “{climb.to_label}”, once it runs steadily, does {times} times"
        f" the work of {baseline} in the same time"
    )
    if climb.biggest is not None and count > 1:
        part = "most of it" if climb.did_most else "the largest part"
        part = "the largest parts" if climb.rivals else part
        said += f"; {part} came from {quoted(climb.biggest_labels)}"
    return f"{said}."
