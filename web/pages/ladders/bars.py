"""Bars of step time in a ladder, and their legend (pure)."""

from __future__ import annotations

from tracker.queries.ladders.ladders import LadderView
from tracker.queries.ladders.verdicts import NOT_ENOUGH_STEPS
from web.figures.ladder import Bar, part_colours, shown_name
from web.pages.ladders.step_cards import cards_of

EXAMPLE, STEP = "example", "step"


def counts_examples(ladder: LadderView) -> bool:
    known = [rung.breakdown for rung in ladder.rungs if rung.breakdown is not None]
    return bool(known) and all(step.examples_per_step for step in known)


def unit_of(ladder: LadderView, requested: str) -> str:
    """Bars are per example, so that batch sizes compare, where examples are counted."""
    return EXAMPLE if requested != STEP and counts_examples(ladder) else STEP


def bars_of(ladder: LadderView, unit: str) -> list[Bar]:
    return [
        Bar(card.label, card.parts(per_example=unit == EXAMPLE), NOT_ENOUGH_STEPS)
        for card in cards_of(ladder)
    ]


def colours_of(ladder: LadderView) -> dict[str, str]:
    """Return each part of a step with the name of its color, in the legend's order."""
    steps = [rung.breakdown for rung in ladder.rungs if rung.breakdown is not None]
    bars = [[(part.name, part.seconds) for part in step.parts] for step in steps]
    return {
        name: colour.removeprefix("var(--part-").removesuffix(")")
        for name, colour in part_colours(bars)
    }


def legend_of(ladder: LadderView) -> list[tuple[str, str]]:
    return [(shown_name(name), colour) for name, colour in colours_of(ladder).items()]
