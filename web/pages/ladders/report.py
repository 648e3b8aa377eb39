"""The printed report of a ladder: a sentence, a table, and bars without a script (pure)."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.translation import gettext, gettext_noop, ngettext

from tracker.queries.ladders.ladders import LadderView
from tracker.queries.ladders.verdicts import NOT_ENOUGH_STEPS, Verdict, quoted
from web.figures.ladder import milliseconds_text
from web.pages.ladders.bars import colours_of, legend_of
from web.pages.ladders.step_cards import RungCard, cards_of
from web.templatetags.format import number

MILLISECONDS = 1_000
WHOLE = 100.0
# The speedup of a ladder, in total and per step.
FASTER = gettext_noop(
    "After %(changes)s, “%(last)s” has %(times)s times the steady throughput of"
    " %(baseline)s."
)
FASTER_BY_MOST = gettext_noop(
    "After %(changes)s, “%(last)s” has %(times)s times the steady throughput of"
    " %(baseline)s. Most of the gain came from %(rungs)s."
)
FASTER_BY_LARGEST = gettext_noop(
    "After %(changes)s, “%(last)s” has %(times)s times the steady throughput of"
    " %(baseline)s. The largest gain came from %(rungs)s."
)
FASTER_BY_RIVALS = gettext_noop(
    "After %(changes)s, “%(last)s” has %(times)s times the steady throughput of"
    " %(baseline)s. The largest gains came from %(rungs)s."
)


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
    total: str  # the duration, or the reason that it is missing


@dataclass(frozen=True, slots=True)
class LadderReport:
    sentence: str
    cards: list[RungCard]
    bars: list[ReportBar]
    legend: list[tuple[str, str]]
    has_gpus: bool
    has_cost: bool


def report_of(ladder: LadderView, *, per_example: bool) -> LadderReport:
    """Return the context of the page."""
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
    """Return the result of the whole ladder as a sentence."""
    climb, count = ladder.climb, len(ladder.rungs) - 1
    if climb is None:
        return gettext("No run can be compared with the baseline yet.")
    changes = ngettext("one change", "%(count)s changes", count) % {"count": count}
    change = climb.change
    baseline = gettext("the baseline")
    if climb.from_label != "baseline":
        baseline = gettext("the baseline “%(name)s”") % {"name": climb.from_label}
    named = {"changes": changes, "last": climb.to_label, "baseline": baseline}
    if change.verdict is Verdict.SAME:
        template = gettext(
            "After %(changes)s, “%(last)s” is about as fast as %(baseline)s."
        )
        return template % named
    times = {"times": number(float(f"{change.ratio:.2g}"))}
    if climb.biggest is None or count <= 1:
        return gettext(FASTER) % {**named, **times}
    biggest = {"rungs": quoted(climb.biggest_labels)}
    if climb.rivals:
        template = gettext(FASTER_BY_RIVALS)
    elif climb.did_most:
        template = gettext(FASTER_BY_MOST)
    else:
        template = gettext(FASTER_BY_LARGEST)
    return template % {**named, **times, **biggest}
