"""The summary at the top of a ladder's page (pure)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from django.utils.translation import gettext, ngettext

from tracker.queries.ladders.ladders import LadderView
from tracker.queries.ladders.predictions import LeftGain
from tracker.queries.ladders.steps import RungView
from tracker.queries.ladders.verdicts import (
    MODERATE_CHANGE,
    Change,
    Verdict,
    quoted,
)
from web.pages.compare.cells import change_text
from web.pages.ladders.step_cards import RungCard, ShownVerdict, cards_of, shown_verdict
from web.templatetags.format import duration, number, percent
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
    has_stages: bool  # a run has several stages, so the stage is not the whole run
    gone: int  # fixed findings of the baseline
    had: int  # findings of the baseline
    unjudged: int  # rungs that could not be compared with the baseline
    is_unfair: bool
    unsettled: str  # ladder steps that never became steady; "" if none
    left: str  # predicted savings of the last step's findings; "" if unknown
    left_reason: str  # the findings with these savings, or why there are none
    notes: tuple[str, ...]  # why a faster run took longer; whether to continue
    worse: tuple[str, ...]  # a sentence for each rung that is faster and learns worse


def summary_of(ladder: LadderView) -> Summary | None:
    """Summarize a ladder; None if nothing can be compared."""
    climb = ladder.climb
    if climb is None:
        return None
    cards = cards_of(ladder)
    first = cards[0]
    last = [card for card in cards if card.rung.against_baseline is not None][-1]
    advice = _advice(ladder.left, [c.label for c in cards if c.rung.is_unforeseen])
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
        has_stages=any(len(card.rung.stages) > 1 for card in (first, last)),
        gone=len(_fixed_for_good(cards) & had),
        had=len(had),
        unjudged=sum(card.rung.against_baseline is None for card in cards[1:]),
        is_unfair=any(card.rung.machine for card in cards),
        unsettled=_quoted(card.label for card in cards if card.never_steady),
        left=_left(ladder.left),
        left_reason=_left_reason(ladder.left) if ladder.left else "",
        notes=tuple(
            filter(None, (_why_not_shorter(climb.change, first, last), advice))
        ),
        worse=tuple(
            _worse(card, before.label, ladder.quality_path)
            for before, card in pairwise(cards)
            if card.rung.is_faster_but_worse
        ),
    )


def _left(left: LeftGain | None) -> str:
    if left is None:
        return ""
    if left.titles:
        return gettext("expected %(share)s") % {"share": percent(100 * left.share)}
    return gettext("unknown") if left.without_gain else gettext("none predicted")


def _left_reason(left: LeftGain) -> str:
    if left.titles:
        return ", ".join(left.titles)
    if left.without_gain:
        return gettext("the last run's findings have no predicted speedup")
    return gettext("by the last run's findings")


def _quoted(labels: Iterable[str]) -> str:
    found = tuple(labels)
    return quoted(found) if found else ""


def _advice(left: LeftGain | None, unforeseen: Sequence[str]) -> str:
    """Return advice whether to continue, from the rules' findings."""
    if left is None or not left.advises_stop:
        return ""
    if unforeseen:
        return gettext(
            "More may be possible: the findings did not predict the full speedup of"
            " %(rungs)s."
        ) % {"rungs": quoted(unforeseen)}
    advice = gettext("Further steps are unlikely to pay off: no finding predicts one.")
    if left.titles:
        advice = gettext(
            "The last run's findings predict less than 5 % in total: fixing them is"
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


def _why_not_shorter(change: Change, first: RungCard, last: RungCard) -> str:
    """Explain why a faster run took hardly less time, or more; "" if it did not."""
    before, after = first.rung.total_seconds, last.rung.total_seconds
    if change.verdict is not Verdict.FASTER or not before or not after:
        return ""
    if before / after >= 1 + MODERATE_CHANGE:
        return ""
    times, has_examples = _times_the_work(first.rung, last.rung)
    # With the work of the first run, the last one would have taken less time.
    if times < 1 + MODERATE_CHANGE or times * before / after < 1 + MODERATE_CHANGE:
        return gettext(
            "The speedup of the whole run is smaller: it includes startup and the time"
            " between steps."
        )
    template = gettext(
        "The speedup of the whole run is smaller because “%(last)s” ran %(times)s times"
        " as many steps as “%(first)s”."
    )
    if has_examples:
        template = gettext(
            "The speedup of the whole run is smaller because “%(last)s” processed"
            " %(times)s times as many examples as “%(first)s”."
        )
    labels = {"last": last.label, "first": first.label}
    return template % {**labels, "times": number(float(f"{times:.2g}"))}


def _times_the_work(before: RungView, after: RungView) -> tuple[float, bool]:
    """Return the ratio of examples, or else of steps, and whether it is of examples.

    The ratio is 1 if it is unknown.
    """
    if before.stage_examples and after.stage_examples:
        return after.stage_examples / before.stage_examples, True
    if before.stage_steps and after.stage_steps:
        return after.stage_steps / before.stage_steps, False
    return 1.0, False


def _worse(card: RungCard, previous: str, quality_path: str | None) -> str:
    levels = [level for level in card.learned if level.kind == "worse"]
    sentence = gettext(
        "“%(label)s” is faster, but its %(loss)s is worse than that of “%(previous)s”"
        " %(where)s: %(after)s instead of %(before)s."
    ) % {
        "label": card.label,
        "loss": card.loss_name,
        "previous": previous,
        "where": levels[0].where,
        "after": levels[0].after,
        "before": levels[0].before,
    }
    if not quality_path or quality_path == card.loss_name:
        return sentence
    compared = gettext("Quality compares the last values of %(path)s.")
    return f"{sentence} {compared % {'path': quality_path}}"


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
