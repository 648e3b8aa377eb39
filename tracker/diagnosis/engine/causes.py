"""Orders findings by cause and symptom."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tracker.diagnosis.engine.finding import Severity
from tracker.diagnosis.engine.judgement import LIKELY_FROM, Judgement
from tracker.diagnosis.engine.speedup import USUAL_RECOVERY, recoverable_share

SEVERITIES = list(Severity)
# A finding that saves less than this part of another one cannot be its cause.
MIN_OF_SYMPTOM = 0.25


def arrange(judgements: Sequence[Judgement]) -> list[Judgement]:
    """Set each symptom's cause, and put the primary finding first.

    The order is the primary cause with its symptoms, then the next cause. Causes are
    ordered by the expected saved time times confidence; causes that depend on another
    fix come last, and findings that ended the run come first.
    """
    judgements = [_deferred(judgement, judgements) for judgement in judgements]
    ranked = sorted(judgements, key=weight, reverse=True)
    arranged: list[Judgement] = []

    def place(judgement: Judgement, explained_by: str) -> None:
        if any(_is_same(judgement, other) for other in arranged):
            return
        arranged.append(replace(judgement, explained_by=explained_by))
        for symptom in ranked:
            is_nearest = _nearest_cause(symptom, ranked) == judgement.rule
            if is_nearest and _explains(judgement, symptom):
                place(symptom, judgement.rule)

    for judgement in ranked:
        if not _nearest_cause(judgement, ranked):
            place(judgement, "")
    # The remaining rules explain each other in a cycle; the one with the largest weight
    # becomes the cause.
    for judgement in ranked:
        place(judgement, "")

    if arranged:
        arranged[0] = replace(arranged[0], is_primary=True)
    return arranged


def weight(judgement: Judgement) -> tuple[bool, bool, float, int, float]:
    return (
        not judgement.comes_after,
        judgement.finding.spoils_the_run,
        saved_share(judgement) * judgement.confidence,
        SEVERITIES.index(judgement.finding.severity),
        judgement.confidence,
    )


def saved_share(judgement: Judgement) -> float:
    """Return the share of all time that a fix is expected to save; 0 if unknown."""
    finding = judgement.finding
    if finding.gain is not None:
        return judgement.time_share * recoverable_share(finding.gain)
    return judgement.time_share * USUAL_RECOVERY * finding.lost_share


def _deferred(judgement: Judgement, others: Sequence[Judgement]) -> Judgement:
    """Set the finding that has to be fixed first, if it is likely."""
    first = (
        other
        for other in sorted(others, key=weight, reverse=True)
        if other.rule in judgement.finding.comes_after
        and other.rule != judgement.rule
        and other.confidence >= LIKELY_FROM
        and _shares_scope(other, judgement)
    )
    cause = next(first, None)
    return replace(judgement, comes_after=cause.rule if cause else "")


def _nearest_cause(symptom: Judgement, others: Sequence[Judgement]) -> str:
    """Return the cause that explains no other cause of the symptom, or ""."""
    causes = [cause for cause in others if _explains(cause, symptom)]
    nearest = (
        cause.rule
        for cause in causes
        if not any(_explains(cause, other) for other in causes)
    )
    # In a cycle every cause explains another one.
    return next(nearest, causes[0].rule if causes else "")


def _explains(cause: Judgement, symptom: Judgement) -> bool:
    if cause.rule == symptom.rule or symptom.rule not in cause.finding.explains:
        return False
    saved = saved_share(cause)
    is_too_small = 0 < saved < MIN_OF_SYMPTOM * saved_share(symptom)
    return _shares_scope(cause, symptom) and not is_too_small


def _shares_scope(one: Judgement, other: Judgement) -> bool:
    return one.scope == other.scope or "" in (one.scope, other.scope)


def _is_same(one: Judgement, other: Judgement) -> bool:
    return (one.rule, one.scope) == (other.rule, other.scope)
