"""The summary at the top of a ladder's page (pure)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext, ngettext

from tracker.queries.ladders.ladders import LadderView
from tracker.queries.ladders.predictions import LeftGain
from tracker.queries.ladders.verdicts import MODERATE_CHANGE, quoted
from web.pages.compare.cells import change_text
from web.pages.ladders.step_cards import RungCard, ShownVerdict, cards_of, shown_verdict
from web.templatetags.format import duration, percent
from web.templatetags.quantities import factor


@dataclass(frozen=True, slots=True)
class Summary:
    verdict: ShownVerdict
    from_label: str
    to_label: str
    biggest_labels: str  # "" where no rung is faster
    biggest: str
    throughput: tuple[str, str, str]  # before, after, unit
    quality: tuple[str, str, str]  # before, after, change
    stage: tuple[str, str, str]  # before, after, change; of the compared stage
    total: tuple[str, str, str]
    gone: int  # fixed findings of the baseline
    had: int  # findings of the baseline
    unjudged: int  # rungs that could not be compared with the baseline
    is_unfair: bool
    unsettled: str  # ladder steps that never became steady; "" if none
    left: str  # predicted savings of the last step's findings; "" if unknown
    left_titles: str
    advice: str  # whether to continue; "" if unknown
    worse: tuple[str, ...]  # labels of rungs that are faster and learn worse


def summary_of(ladder: LadderView) -> Summary | None:
    """Summarize a ladder; None if nothing can be compared."""
    climb = ladder.climb
    if climb is None:
        return None
    cards = cards_of(ladder)
    first = cards[0]
    last = [card for card in cards if card.rung.against_baseline is not None][-1]
    had = {(finding.stage, finding.rule) for finding in first.rung.findings.found}
    return Summary(
        verdict=shown_verdict(climb.change, ""),
        from_label=climb.from_label,
        to_label=climb.to_label,
        biggest_labels=_quoted(climb.biggest_labels),
        biggest=", ".join(step.sentence for step, _ in climb.biggest_steps),
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
        stage=_shortened(first.rung.stage_seconds[1], last.rung.stage_seconds[1]),
        total=_shortened(first.rung.total_seconds, last.rung.total_seconds),
        gone=len(_fixed_for_good(cards) & had),
        had=len(had),
        unjudged=sum(card.rung.against_baseline is None for card in cards[1:]),
        is_unfair=any(card.rung.machine for card in cards),
        unsettled=_quoted(card.label for card in cards if card.never_steady),
        left=_left(ladder.left),
        left_titles=", ".join(ladder.left.titles) if ladder.left else "",
        advice=_advice(ladder.left, [c.label for c in cards if c.rung.is_unforeseen]),
        worse=tuple(card.label for card in cards if card.rung.is_faster_but_worse),
    )


def _left(left: LeftGain | None) -> str:
    if left is None:
        return ""
    if left.titles:
        return gettext("expected %(share)s") % {"share": percent(100 * left.share)}
    return gettext("unknown") if left.without_gain else gettext("no findings")


def _quoted(labels: Iterable[str]) -> str:
    found = tuple(labels)
    return quoted(found) if found else ""


def _advice(left: LeftGain | None, unforeseen: Sequence[str]) -> str:
    """Return advice whether to continue, from the rules' findings."""
    if left is None or not left.advises_stop:
        return ""
    if unforeseen:
        return gettext(
            "The last step's findings predict less than 5 %% in total. More may be"
            " possible: no finding predicted the speedup of %(rungs)s."
        ) % {"rungs": quoted(unforeseen)}
    advice = gettext(
        "The last step's findings predict less than 5 % in total: fixing them is"
        " hardly worth the effort."
    )
    if not left.unanswered:
        return advice
    unanswered = ngettext(
        "%(count)s rule lacked data.",
        "%(count)s rules lacked data.",
        left.unanswered,
    )
    return f"{advice} {unanswered % {'count': left.unanswered}}"


def _shortened(before: float | None, after: float | None) -> tuple[str, str, str]:
    """Return two durations, and by how much the second is shorter."""
    change = ""
    if before and after:
        ratio = before / after
        if ratio >= 1 + MODERATE_CHANGE:
            change = gettext("%(factor)s shorter") % {"factor": factor(ratio)}
        elif ratio <= 1 - MODERATE_CHANGE:
            change = gettext("%(factor)s longer") % {"factor": factor(1 / ratio)}
        else:
            change = gettext("about the same")
    return duration(before), duration(after), change


def _fixed_for_good(cards: Sequence[RungCard]) -> set[tuple[str, str]]:
    """Return the findings that went on the way up and did not come back."""
    fixed: set[tuple[str, str]] = set()
    for card in cards:
        findings = card.rung.findings
        fixed |= {(finding.stage, finding.rule) for finding in findings.gone}
        fixed -= {(finding.stage, finding.rule) for finding in findings.new}
    return fixed
