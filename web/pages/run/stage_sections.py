"""A stage on a run's overview page: its steps and its findings (pure)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from django.utils.translation import gettext

from tracker.diagnosis.engine.finding import Severity
from tracker.diagnosis.engine.judgement import Label
from tracker.diagnosis.signals.signal import LOADER
from tracker.queries.diagnoses.diagnoses import (
    FindingView,
    RuleElsewhere,
    RuleLabel,
    StageDiagnosis,
    every_finding,
)
from tracker.queries.run.run import ProcessRow, StageRow
from web.pages.run.failure_text import raised
from web.pages.run.stage_verdict import StageVerdict, verdict_of
from web.pages.run.step_figures import StepFigures, of_diagnosis
from web.pages.run.unanswered_rules import (
    ElsewhereGroup,
    UnansweredGroup,
    by_what_is_missing,
    group_by_missing_data,
    of_gpus,
    of_others,
)

TRAINING = "train"
# More stages than this are folded, but for those with something to read.
MAX_OPEN = 8
# Maximum number of different failures shown, and of ranks.
MAX_FAILURES, MAX_RANKS = 3, 4


@dataclass(frozen=True, slots=True)
class Ranks:
    """Ranks with the same state; `failure` is the reason of their failure, or ""."""

    ranks: tuple[int, ...]
    host: str = ""  # host of the first rank
    failure: str = ""
    points: int = 0

    @property
    def ranks_text(self) -> str:
        """Name the first of them: "0, 1, 2 and 61 more"."""
        shown = ", ".join(str(rank) for rank in self.ranks[:MAX_RANKS])
        more = len(self.ranks) - MAX_RANKS
        if more <= 0:
            return shown
        return gettext("%(ranks)s and %(count)s more") % {"ranks": shown, "count": more}

    @property
    def raised(self) -> str:
        return raised(self.failure)


@dataclass(frozen=True, slots=True)
class StageSection:
    """A stage with its step measurements and findings.

    None: no data yet.
    """

    stage: StageRow
    diagnosis: StageDiagnosis | None

    @property
    def steps(self) -> StepFigures | None:
        return of_diagnosis(self.diagnosis)

    @property
    def verdict(self) -> StageVerdict | None:
        """Return the meaning of no findings; None with a certain finding or no results."""
        found = self.diagnosis
        faults = [f for f in self.sure if f.severity != Severity.NOTICE]
        if found is None or not found.healthy or faults:
            return None
        return verdict_of(found)

    @property
    def is_in_doubt(self) -> bool:
        """Whether weak evidence or a large unexplained loss contradicts "no bottleneck"."""
        loss = self.verdict.loss if self.verdict else None
        return bool(self.possible) or (loss is not None and loss.is_large)

    @property
    def healthy(self) -> list[RuleLabel]:
        """Return the rules that saw no fault, and none before either."""
        found = self.diagnosis
        if found is None:
            return []
        before = {finding.rule for finding in found.cleared}
        return [rule for rule in found.healthy if rule.name not in before]

    @property
    def cleared(self) -> list[tuple[FindingView, str]]:
        """Return findings that are gone, each with why."""
        found = self.diagnosis
        if found is None:
            return []
        return [(finding, why_cleared(finding, found)) for finding in found.cleared]

    @property
    def unanswered(self) -> list[UnansweredGroup]:
        return (
            group_by_missing_data(self.diagnosis.unanswered) if self.diagnosis else []
        )

    @property
    def hint(self) -> UnansweredGroup | None:
        """Return what would let most rules answer: the loader's line, code, or advice."""
        groups = sorted(self.unanswered, key=_is_advice)
        if self.steps is not None:
            # The loop is timed already, for example by a callback without a data wait.
            groups = [group for group in groups if LOADER not in group.codes]
        of_loader = (group for group in groups if LOADER in group.codes)
        return next(of_loader, groups[0] if groups else None)

    @property
    def need_a_gpu(self) -> list[RuleElsewhere]:
        return of_gpus(self.diagnosis.not_applicable) if self.diagnosis else []

    @property
    def elsewhere(self) -> list[ElsewhereGroup]:
        """Return rules about another kind of stage, for another reason than a GPU."""
        found = self.diagnosis
        return by_what_is_missing(of_others(found.not_applicable)) if found else []

    @property
    def elsewhere_count(self) -> int:
        return sum(len(group.rules) for group in self.elsewhere)

    @property
    def is_quiet(self) -> bool:
        """Return whether it has no message for the user."""
        return not (self.sure or self.stage.failure or self._failures)

    @property
    def raised(self) -> str:
        """Return the last line of the stage's traceback; "" without one."""
        return raised(self.stage.failure)

    @property
    def failed_ranks(self) -> Ranks | None:
        """Return the ranks that failed as the stage did; None: there is only one."""
        same = [p for p in self.stage.processes if p.failure == self.stage.failure]
        if not self.stage.failure or len(self.stage.processes) <= 1 or not same:
            return None
        return Ranks(tuple(each.rank for each in same), same[0].host)

    @property
    def other_failures(self) -> list[Ranks]:
        """Return the ranks' failures that differ from the stage's."""
        return self._failures[:MAX_FAILURES]

    @property
    def more_failures(self) -> int:
        return sum(len(failed.ranks) for failed in self._failures[MAX_FAILURES:])

    @property
    def _failures(self) -> list[Ranks]:
        found: dict[str, list[ProcessRow]] = {}
        for process in self.stage.processes:
            if process.failure and process.failure != self.stage.failure:
                found.setdefault(process.failure, []).append(process)
        return [
            Ranks(tuple(each.rank for each in same), same[0].host, failure)
            for failure, same in found.items()
        ]

    @property
    def dropped(self) -> Ranks | None:
        """Return the agents that dropped points; None if none did."""
        lossy = [each for each in self.stage.processes if each.dropped_points]
        if not lossy:
            return None
        ranks = tuple(each.rank for each in lossy)
        return Ranks(ranks, points=sum(each.dropped_points for each in lossy))

    @property
    def sure(self) -> list[FindingView]:
        """Findings to show expanded.

        Beside certain ones also the main finding, which costs the most time.
        """
        return together([f for f in self._kept if self._is_open(f)])

    @property
    def possible(self) -> list[FindingView]:
        """Findings to show folded."""
        return together([f for f in self._kept if not self._is_open(f)])

    def _is_open(self, finding: FindingView) -> bool:
        is_any_sure = any(map(is_sure, self._kept))
        return is_sure(finding) or (finding.is_primary and is_any_sure)

    @property
    def dismissed(self) -> list[FindingView]:
        found = self.diagnosis.findings if self.diagnosis else []
        return [finding for finding in found if finding.dismissal]

    @property
    def _kept(self) -> list[FindingView]:
        found = self.diagnosis.findings if self.diagnosis else []
        return [finding for finding in found if not finding.dismissal]

    @property
    def is_unjudged(self) -> bool:
        found = self.diagnosis
        return found is not None and not found.healthy and not found.findings

    @property
    def shown(self) -> Iterator[FindingView]:
        """Yield its findings in the order in which they stand on the page."""
        yield from every_finding((*self.sure, *self.possible, *self.dismissed))
        if self.diagnosis is not None:
            yield from self.diagnosis.cleared


def _is_advice(group: UnansweredGroup) -> bool:
    return not group.codes


@dataclass(frozen=True, slots=True)
class CheckCounts:
    """The number of rules by their result, over all stages of a run."""

    passed: int
    lacking: int
    elsewhere: int
    dismissed: int
    cleared: int

    @property
    def total(self) -> int:
        return (
            self.passed + self.lacking + self.elsewhere + self.dismissed + self.cleared
        )


def check_counts(shown: Sequence[StageSection]) -> CheckCounts:
    found = [section.diagnosis for section in shown if section.diagnosis]
    return CheckCounts(
        passed=sum(len(section.healthy) for section in shown),
        lacking=sum(len(each.unanswered) for each in found),
        elsewhere=sum(len(each.not_applicable) for each in found),
        dismissed=sum(len(section.dismissed) for section in shown),
        cleared=sum(len(each.cleared) for each in found),
    )


def shows_stages(shown: Sequence[StageSection]) -> bool:
    """Return whether a timeline of the stages shows more than the run's duration."""
    is_measured = any(
        stage.gpu_percent is not None or stage.cpu_percent is not None
        for stage in (section.stage for section in shown)
    )
    return len(shown) > 1 or (bool(shown) and is_measured)


def is_sure(finding: FindingView) -> bool:
    """Return whether it, or a finding it explains, is more than possible."""
    labels = {finding.label, *(symptom.label for symptom in finding.all_symptoms)}
    return labels != {Label.POSSIBLE}


def why_cleared(finding: FindingView, found: StageDiagnosis) -> str:
    """Return the result of the rule's latest check as a sentence."""
    needs_by_rule = {rule.name: rule.needs for rule in found.unanswered}
    if finding.rule in needs_by_rule:
        needs = {"needs": needs_by_rule[finding.rule]}
        return gettext("Not checked again: the rule needs %(needs)s.") % needs
    if finding.rule in {rule.name for rule in found.healthy}:
        # The last time, the whole stage is judged, and not its newest part.
        if found.is_final:
            return gettext("Not found in the final check of the whole stage.")
        return gettext("Not found in the latest check.")
    if finding.rule in {each.rule for each in every_finding(found.findings)}:
        return gettext("Now found elsewhere in the stage, no longer here.")
    return gettext("The rule has returned no result since.")


def together(findings: Sequence[FindingView]) -> list[FindingView]:
    """Let the first finding of each rule speak for those about other GPUs."""
    by_rule: dict[str, list[FindingView]] = {}
    for finding in findings:
        by_rule.setdefault(finding.rule, []).append(finding)
    return [
        replace(first, also_on=tuple(other.scope for other in others))
        for first, *others in by_rule.values()
    ]


def sections(
    stages: Sequence[StageRow], diagnoses: Sequence[StageDiagnosis]
) -> list[StageSection]:
    """Pair stages with diagnoses; training first, because GPUs wait there longest."""
    by_stage = {diagnosis.stage: diagnosis for diagnosis in diagnoses}
    found = [StageSection(stage, by_stage.get(stage.name)) for stage in stages]
    return sorted(found, key=_rank)


def anchors(shown: Sequence[StageSection]) -> dict[int, str]:
    """Return by its id the finding that an address with its rule's name leads to.

    Two stages may have the same fault; the address leads to the first.
    """
    first: dict[str, int] = {}
    for section in shown:
        for finding in section.shown:
            first.setdefault(finding.rule, finding.id)
    return {finding_id: rule for rule, finding_id in first.items()}


def main_stage(shown: Sequence[StageSection]) -> str:
    """Return the stage that stands for a run where one must; "" without any."""
    return shown[0].stage.name if shown else ""


def open_sections(shown: Sequence[StageSection]) -> set[str]:
    """Return the names of the stages that are open from the start."""
    if len(shown) <= MAX_OPEN:
        return {section.stage.name for section in shown}
    loud = [section.stage.name for section in shown if not section.is_quiet]
    return {*loud[:MAX_OPEN], main_stage(shown)}


def _rank(section: StageSection) -> int:
    if section.stage.name == TRAINING:
        return 0
    if section.stage.failure or (section.diagnosis and section.diagnosis.findings):
        return 1
    return 2 if section.diagnosis else 3
