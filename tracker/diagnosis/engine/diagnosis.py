"""Evaluates all rules for one stage and combines their answers into a diagnosis.

Pure: the same measurements and open findings give the same diagnosis.

A rule for the steady part is evaluated on up to five consecutive windows, and on all of
them together for the displayed values. A finding opens if at least 60 % of the windows
have it, and closes if fewer than 30 % do. While a stage runs, the windows are the latest
ones of one minute (or 50 steps) each; after its end they divide the whole steady part.
Short runs get shorter and fewer windows; below five seconds no rule reports "healthy".
"""

from __future__ import annotations

import logging
import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from tracker.diagnosis.analysis.sampling import Sampling
from tracker.diagnosis.analysis.steady import SteadyPart, find_steady_part
from tracker.diagnosis.analysis.windows import divide
from tracker.diagnosis.engine.causes import arrange
from tracker.diagnosis.engine.finding import (
    NO_EARLIER_RUN,
    NO_GPU,
    NO_REQUESTS,
    NO_STAGE_BEFORE,
    ONE_PROCESS,
    TOO_SHORT,
    Abstention,
    Answer,
    Evidence,
    Finding,
)
from tracker.diagnosis.engine.judgement import (
    SECONDS_TO_CONFIRM,
    SILENT_BELOW,
    STEPS_TO_CONFIRM,
    UNSTEADY,
    Judgement,
    confidence_of,
)
from tracker.diagnosis.engine.measurements import Measurements, Window, clean
from tracker.diagnosis.engine.rule import Rule, Span
from tracker.diagnosis.engine.speedup import Recovery, with_recovery
from tracker.diagnosis.input.activities import CODE_PROFILE
from tracker.diagnosis.input.places import with_place
from tracker.diagnosis.rules import RULES

logger = logging.getLogger(__name__)

# A shorter stage can have findings, but is never healthy.
FEWEST_SECONDS_TO_CLEAR = 5.0

ENTER_SHARE = 0.60
LEAVE_SHARE = 0.30

GAP = "gap_before_stage_seconds"
STEP = "step_seconds"

# Rule name and scope.
Key = tuple[str, str]


class RuleFailed(Exception):
    """A rule raised an exception, which has been logged."""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """`findings` are in display order, the primary one first."""

    steady: SteadyPart | None
    window: Window | None
    findings: tuple[Judgement, ...]
    healthy: tuple[str, ...]
    unanswered: dict[str, tuple[str, ...]]
    failed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Question:
    """The measurements for one rule: each window, and all windows together."""

    whole: Measurements
    parts: tuple[Measurements, ...]
    windows: tuple[Window, ...]  # of the parts
    window: Window
    reliability: float
    is_short: bool


@dataclass(slots=True)
class _Notes:
    findings: list[Judgement] = field(default_factory=list)
    healthy: list[str] = field(default_factory=list)
    unanswered: dict[str, tuple[str, ...]] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)


def diagnose(
    measurements: Measurements,
    *,
    rules: Iterable[Rule] = RULES,
    open_findings: Collection[Key] = (),
    has_ended: bool = True,
    recoveries: Mapping[str, Recovery] = MappingProxyType({}),
) -> Diagnosis:
    """Evaluate the rules; `recoveries` are results of earlier fixes, by rule."""
    measurements = clean(measurements)
    steady = find_steady_part(measurements, has_ended=has_ended)
    windows = divide(measurements, steady, has_ended=has_ended) if steady else ()
    judged = Window(windows[0].start, windows[-1].end) if windows else None

    notes = _Notes()
    stage = _Stage(measurements, steady, judged, windows, recoveries)
    for rule in rules:
        _note_answer(rule, stage, open_findings, notes)

    return Diagnosis(
        steady=steady,
        window=judged,
        findings=tuple(arrange(_not_alone(notes.findings))),
        healthy=tuple(notes.healthy),
        unanswered=notes.unanswered,
        failed=tuple(notes.failed),
    )


def _not_alone(findings: list[Judgement]) -> list[Judgement]:
    """Drop findings whose required companion finding is absent."""
    rules = {judgement.rule for judgement in findings}
    return [
        judgement
        for judgement in findings
        if not judgement.finding.only_beside
        or not rules.isdisjoint(judgement.finding.only_beside)
    ]


class _Stage:
    """A stage's measurements, divided into windows once for all rules."""

    def __init__(
        self,
        measurements: Measurements,
        steady: SteadyPart | None,
        judged: Window | None,
        windows: tuple[Window, ...],
        recoveries: Mapping[str, Recovery],
    ) -> None:
        self.recoveries = recoveries
        self.measurements = measurements
        self.with_logged_steps = measurements.with_logged_steps()
        self.steady = steady
        self.judged = judged
        self.windows = windows
        # Runs of other trackers, and those without monitoring, have only their losses.
        self.span = measurements.span() or measurements.span_of_losses()
        self.whole = measurements.within(judged) if judged else measurements
        self.parts = tuple(measurements.within(window) for window in windows)

    @property
    def is_too_short(self) -> bool:
        """Return whether the stage is too short to be healthy; samples come once a second."""
        if self.steady is not None and self.steady.is_traced:
            return False
        seen = self.judged or self.span
        return seen is None or seen.seconds < FEWEST_SECONDS_TO_CLEAR

    def of(self, rule: Rule) -> Measurements:
        """Return the rule's measurements; steps that were only logged are for whole stages."""
        is_of_stage = rule.span is Span.STAGE
        return self.with_logged_steps if is_of_stage else self.measurements

    def question(self, rule: Rule) -> _Question | None:
        """Return None if the stage is too short for the rule."""
        if rule.span is Span.STAGE:
            if self.span is None:
                return None
            whole, window = self.of(rule), self.span
            parts: tuple[Measurements, ...] = (whole,)
            windows: tuple[Window, ...] = (window,)
            reliability = 1.0
        else:
            if self.steady is None or self.judged is None:
                return None
            if not (
                self.steady.is_long_enough_for_gpus
                if rule.is_about_gpus
                else self.steady.is_long_enough
            ):
                return None
            whole, window, parts = self.whole, self.judged, self.parts
            windows = self.windows
            reliability = 1.0 if self.steady.is_steady else UNSTEADY

        # Traces of one run have gaps between them that were not measured.
        is_traced = self.steady is not None and self.steady.is_traced
        is_short = len(whole.steps) < STEPS_TO_CONFIRM and (
            is_traced or window.seconds < SECONDS_TO_CONFIRM
        )
        return _Question(whole, parts, windows, window, reliability, is_short)


def _note_answer(
    rule: Rule, stage: _Stage, open_findings: Collection[Key], notes: _Notes
) -> None:
    try:
        answers = _ask_everywhere(rule, stage, open_findings)
        if rule.of_profile and all(isinstance(a, Abstention) for a in answers):
            by_profile = _ask_everywhere(rule.of_profile, stage, open_findings)
            # The profile shows faults, but not that there are none.
            answers += [each for each in by_profile if isinstance(each, Judgement)]
    except RuleFailed:
        notes.failed.append(rule.name)
        return

    found = [answer for answer in answers if isinstance(answer, Judgement)]
    abstentions = [answer for answer in answers if isinstance(answer, Abstention)]
    notes.findings.extend(found)
    if abstentions and not found:
        lacking = dict.fromkeys(lack for a in abstentions for lack in a.lacks)
        notes.unanswered[rule.name] = tuple(lacking)
    elif not found and stage.is_too_short:
        notes.unanswered[rule.name] = (TOO_SHORT,)
    elif not found:
        notes.healthy.append(rule.name)


def _ask_everywhere(
    rule: Rule, stage: _Stage, open_findings: Collection[Key]
) -> list[Judgement | Abstention | None]:
    """Evaluate the rule for the stage, or for each of its GPUs."""
    if without := _what_the_stage_is_without(rule, stage.measurements):
        return [Abstention((without,))]
    if not rule.is_per_gpu:
        return [_judge(rule, stage, None, open_findings)]
    # Without a GPU the rule is evaluated once, to list its missing signals.
    gpus: list[int | None] = [*sorted(stage.measurements.gpus)]
    return [_judge(rule, stage, gpu, open_findings) for gpu in gpus or [None]]


def _what_the_stage_is_without(rule: Rule, measurements: Measurements) -> str:
    """Return why the rule does not apply to the stage; "" if it does or if unknown."""
    if rule.is_about_gpus and measurements.gpu_count == 0:
        return NO_GPU
    if rule.is_about_ranks and measurements.is_one_process:
        return ONE_PROCESS
    is_service = "requests" in measurements.values()
    if rule.is_about_requests and len(measurements.steps) and not is_service:
        return NO_REQUESTS
    # Without facts no metadata of the run was loaded, including its earlier runs.
    return _what_was_not_before(rule, measurements) if measurements.facts else ""


def _what_was_not_before(rule: Rule, measurements: Measurements) -> str:
    if rule.compares_with - measurements.earlier.keys():
        return NO_EARLIER_RUN
    if GAP in rule.needs and GAP not in measurements.facts:
        return NO_STAGE_BEFORE
    return ""


def _missing(
    rule: Rule, measurements: Measurements, gpu: int | None
) -> tuple[str, ...]:
    values = measurements.values(gpu)
    return tuple(name for name in rule.needs if name not in values)


def _lacks_of_short_stage(rule: Rule, stage: _Stage) -> tuple[str, ...]:
    """Return the rule's own list of missing signals if it has several alternatives."""
    if not rule.needs:
        answer = _ask(rule, stage.measurements, None, already_open=False)
        if isinstance(answer, Abstention):
            return answer.lacks
    return (TOO_SHORT,)


def _judge(
    rule: Rule, stage: _Stage, gpu: int | None, open_findings: Collection[Key]
) -> Judgement | Abstention | None:
    missing = _missing(rule, stage.of(rule), gpu)
    question = stage.question(rule)
    if missing or question is None:
        return Abstention(missing or _lacks_of_short_stage(rule, stage))
    sampling = Sampling(stage.measurements, rule, gpu)

    scope = "" if gpu is None else f"gpu/{gpu}"
    is_open = (rule.name, scope) in open_findings
    if lacks := sampling.holes(question.window):
        return Abstention(lacks)
    whole = _ask(rule, question.whole, gpu, already_open=is_open)
    if isinstance(whole, Abstention):
        return whole

    answers = [
        _ask(rule, part, gpu, already_open=is_open)
        for part, window in zip(question.parts, question.windows, strict=True)
        # A single window equals the whole, so it is not evaluated twice.
        if len(question.parts) > 1 and not sampling.holes(window)
    ]
    # Windows that cannot be judged do not count.
    judged = [a for a in answers if not isinstance(a, Abstention)] or [whole]
    found = [answer for answer in judged if answer]
    share = len(found) / len(judged)
    if share < (LEAVE_SHARE if is_open else ENTER_SHARE) or not found:
        return None

    profile = stage.measurements.facts.get(CODE_PROFILE)
    finding = with_place(rule.name, whole or found[-1], profile)
    learned = with_recovery(finding.gain, stage.recoveries.get(rule.name))
    finding = replace(
        finding,
        evidence=tuple(map(_with_crossed_limit, finding.evidence)),
        gain=learned,
        quality=finding.quality * sampling.quality,
    )
    persistence = share * question.reliability
    confidence = confidence_of(finding, persistence, is_short=question.is_short)
    if confidence < SILENT_BELOW:
        return None
    steps = question.whole.steps.numbers
    return Judgement(
        rule=rule.name,
        title=finding.title or rule.title,
        scope=scope,
        finding=finding,
        window=question.window,
        persistence=persistence,
        confidence=confidence,
        time_share=_time_share(rule, question),
        first_step=float(steps[0]) if len(steps) else None,
        last_step=float(steps[-1]) if len(steps) else None,
    )


def _time_share(rule: Rule, question: _Question) -> float:
    """Return the share of the window that is spent in steps, for a rule about steps."""
    steps = question.whole.steps
    is_about_steps = STEP in (*rule.needs, *rule.may_use)
    if rule.span is Span.STAGE or not is_about_steps or not len(steps):
        return 1.0
    seconds = float(steps.columns[STEP].sum())
    return min(1.0, seconds / max(question.window.seconds, 1e-9))


def _with_crossed_limit(cited: Evidence) -> Evidence:
    """Remove a limit that did not cause the finding."""
    if cited.is_crossed or cited.is_held:
        return cited
    return replace(cited, limit=None, side=None, release=None)


def _ask(
    rule: Rule, measurements: Measurements, gpu: int | None, *, already_open: bool
) -> Answer:
    missing = _missing(rule, measurements, gpu)
    if missing:
        return Abstention(missing)

    try:
        answer = rule.ask(measurements.values(gpu), already_open=already_open)
    except Exception as error:
        # A broken rule must not hide the findings of other rules.
        logger.exception("rule %s failed", rule.name)
        raise RuleFailed from error

    if isinstance(answer, Finding) and not _is_finite(answer):
        logger.error("rule %s found numbers that are not finite", rule.name)
        raise RuleFailed
    return answer


def _is_finite(finding: Finding) -> bool:
    numbers = [evidence.value for evidence in finding.evidence]
    numbers += [e.limit for e in finding.evidence if e.limit is not None]
    numbers += [finding.margin, finding.quality, finding.corroboration]
    if finding.gain:
        numbers += [finding.gain.bound, finding.gain.likely]
    return all(math.isfinite(number) for number in numbers)
