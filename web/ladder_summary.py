"""The band on top of a ladder's page: what the whole ladder achieved (pure)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tracker.queries.ladders import LadderView
from tracker.queries.promises import LeftGain
from web.cells import change_text
from web.rung_cards import RungCard, ShownVerdict, cards_of, shown_verdict
from web.templatetags.format import percent


@dataclass(frozen=True, slots=True)
class Summary:
    verdict: ShownVerdict
    from_label: str
    to_label: str
    biggest_label: str
    biggest: str
    throughput: tuple[str, str, str]  # before, after, unit
    quality: tuple[str, str, str]  # before, after, change
    total: tuple[str, str]
    gone: int
    unjudged: int  # rungs that could not be compared with the baseline
    is_unfair: bool
    left: str  # what the last rung's findings promise; "" where nobody knows
    left_titles: str
    advises_stop: bool
    worse: tuple[str, ...]  # labels of rungs that are faster and learn worse


def summary_of(ladder: LadderView) -> Summary | None:
    """Sum a ladder up; None while nothing can be compared."""
    climb = ladder.climb
    if climb is None:
        return None
    cards = cards_of(ladder)
    first = cards[0]
    last = [card for card in cards if card.rung.against_baseline is not None][-1]
    return Summary(
        verdict=shown_verdict(climb.change, ""),
        from_label=climb.from_label,
        to_label=climb.to_label,
        biggest_label=climb.biggest_label,
        biggest="" if climb.biggest is None else climb.biggest.sentence,
        throughput=(
            first.step.throughput,
            last.step.throughput,
            last.step.throughput_unit,
        ),
        quality=(
            first.quality,
            last.quality,
            change_text(last.rung.quality, first.rung.quality),
        ),
        total=(first.total, last.total),
        gone=len(_gone_for_good(cards)),
        unjudged=sum(card.rung.against_baseline is None for card in cards[1:]),
        is_unfair=any(card.rung.machine for card in cards),
        left=_left(ladder.left),
        left_titles=", ".join(ladder.left.titles) if ladder.left else "",
        advises_stop=ladder.left is not None and ladder.left.advises_stop,
        worse=tuple(card.label for card in cards if card.rung.is_faster_but_worse),
    )


def _left(left: LeftGain | None) -> str:
    if left is None:
        return ""
    if left.titles:
        return f"likely {percent(100 * left.share)}"
    return "unknown" if left.without_gain else "nothing found"


def _gone_for_good(cards: Sequence[RungCard]) -> set[tuple[str, str]]:
    """Return the findings that went on the way up and did not come back."""
    gone: set[tuple[str, str]] = set()
    for card in cards:
        findings = card.rung.findings
        gone |= {(finding.stage, finding.rule) for finding in findings.gone}
        gone -= {(finding.stage, finding.rule) for finding in findings.new}
    return gone
