"""A ladder's rungs as its page shows them: texts, and lengths of small bars (pure)."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.translation import gettext, ngettext

from tracker.diagnosis.analysis.quality import Level
from tracker.queries.diagnoses.time_breakdowns import LABELS
from tracker.queries.ladders.ladders import LadderView
from tracker.queries.ladders.predictions import Outcome
from tracker.queries.ladders.steps import RungView, ValueChange
from tracker.queries.ladders.verdicts import Change, Materiality, Verdict
from tracker.queries.run.attributes import AttributeRow
from tracker.queries.run.namespaces import PARAMS
from web.pages.compare.cells import change_text, row_text, value_text
from web.pages.run.step_figures import StepFigures, of_breakdown
from web.pages.run.utilization_strip import ShownStrip, shown_strip
from web.templatetags.format import UNKNOWN, duration, number, percent
from web.templatetags.ledger import money
from web.templatetags.quantities import factor
from web.texts import gettext_lazy

NO_GPU, UNKNOWN_GPU = gettext_lazy("no GPU"), gettext_lazy("unknown")
BAR_LENGTH = 100
HOUR, MILLION = 3_600.0, 1e6
ICONS = {
    Verdict.FASTER: "trending-up",
    Verdict.SLOWER: "trending-down",
    Verdict.SAME: "equal",
}
UNJUDGED = "unjudged"
ROUGH = gettext_lazy("rough estimate, few steps")
MODERATE = gettext_lazy("moderate change")
FIXED = {
    True: gettext_lazy("Fixed. The speedup is %(outcome)s."),
    None: gettext_lazy(
        "Not enough data to confirm the fix. The speedup is %(outcome)s."
    ),
}
# Whether something other than the finding's cause was changed.
FIXED_TOO = {
    True: gettext_lazy(
        "Fixed. The speedup is %(outcome)s, so something else changed, too."
    ),
    None: gettext_lazy(
        "Not enough data to confirm the fix. The speedup is %(outcome)s, so something"
        " else changed, too."
    ),
}
UNTRIED = gettext_lazy(
    "Still present, so the prediction was not tested: another change or a partial fix"
    " caused the difference."
)
# Below this share of the steps' speedup, the page notes a lagging stage.
SHOWN_BY_STAGE = 0.5


@dataclass(frozen=True, slots=True)
class ShownVerdict:
    """`kind` names the style; `interval` is empty without a verdict."""

    kind: str
    icon: str
    headline: str
    interval: str
    remark: str = ""


@dataclass(frozen=True, slots=True)
class ShownLevel:
    """A loss of the rung before and of this one, at one point of the way."""

    where: str
    before: str
    after: str
    change: str
    kind: str  # worse, better or same


@dataclass(frozen=True, slots=True)
class ShownChange:
    name: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class RungCard:
    rung: RungView
    longest_throughput: float
    quality_path: str | None

    @property
    def label(self) -> str:
        return self.rung.label

    @property
    def is_named_by_run(self) -> bool:
        return self.rung.label == self.rung.run_name

    @property
    def is_baseline(self) -> bool:
        return self.rung.position == 0

    @property
    def step(self) -> StepFigures:
        return of_breakdown(self.rung.breakdown)

    @property
    def throughput_length(self) -> float:
        value = self.step.per_second
        if value is None or not self.longest_throughput:
            return 0.0
        return round(BAR_LENGTH * value / self.longest_throughput, 1)

    @property
    def cpu(self) -> str:
        step = self.rung.breakdown
        return UNKNOWN if step is None else percent(step.cpu_percent)

    @property
    def cpu_length(self) -> float:
        step = self.rung.breakdown
        return min(BAR_LENGTH, step.cpu_percent or 0.0) if step else 0.0

    @property
    def cpu_cores(self) -> str:
        step = self.rung.breakdown
        if step is None or step.cpu_cores is None:
            return ""
        cores = number(float(f"{step.cpu_cores:.2g}"))
        template = ngettext(
            "%(count)s core", "%(count)s cores", 1 if cores == "1" else 2
        )
        return template % {"count": cores}

    @property
    def gpu(self) -> str:
        step = self.rung.breakdown
        if step is not None and step.gpu_percent is not None:
            return percent(step.gpu_percent)
        return str(NO_GPU if self.rung.gpu_count == 0 else UNKNOWN_GPU)

    @property
    def gpu_length(self) -> float:
        step = self.rung.breakdown
        return min(BAR_LENGTH, step.gpu_percent or 0.0) if step else 0.0

    @property
    def quality_name(self) -> str:
        return (self.quality_path or "").rpartition("/")[2].replace("_", " ")

    @property
    def note(self) -> str:
        """Return the note without the step's label."""
        note = self.rung.note.strip()
        return note.removeprefix(self.rung.label).strip()

    @property
    def has_no_findings(self) -> bool:
        findings = self.rung.findings
        return not (
            findings.new or findings.kept or findings.found or findings.unjudged
        )

    @property
    def quality(self) -> str:
        return _quality(self.rung.quality)

    @property
    def quality_change(self) -> str:
        return change_text(self.rung.quality, self.rung.quality_before)

    @property
    def total(self) -> str:
        return duration(self.rung.total_seconds)

    @property
    def strips(self) -> list[ShownStrip]:
        busy = self.rung.utilization
        strips = (shown_strip("GPU", busy.gpu), shown_strip("CPU", busy.cpu))
        return [strip for strip in strips if strip is not None]

    @property
    def cost(self) -> str:
        """Return the cost of the run; "" without a price or a GPU."""
        ledger = self.rung.ledger
        if ledger is None or ledger.money is None:
            return ""
        return money(ledger.money, ledger.currency)

    @property
    def cost_of_million(self) -> str:
        """Return the cost of a million examples at the speed of the steady part."""
        ledger, step = self.rung.ledger, self.rung.breakdown
        if ledger is None or ledger.money is None or not ledger.seconds:
            return ""
        if step is None or not step.examples_per_second or not self.rung.gpu_count:
            return ""
        of_a_second = ledger.money / ledger.seconds * self.rung.gpu_count
        amount = MILLION * of_a_second / step.examples_per_second
        cost = {"cost": money(amount, ledger.currency)}
        return gettext("%(cost)s per million examples") % cost

    @property
    def against_previous(self) -> ShownVerdict:
        return shown_verdict(self.rung.against_previous, self.rung.why_no_change)

    @property
    def against_baseline(self) -> ShownVerdict:
        return shown_verdict(self.rung.against_baseline, self.rung.why_no_change)

    @property
    def is_second(self) -> bool:
        """Return whether the previous step is the baseline, which needs one verdict."""
        return self.rung.position == 1

    @property
    def params(self) -> list[ShownChange]:
        return [_shown(change, PARAMS) for change in self.rung.params]

    @property
    def machine(self) -> list[ShownChange]:
        return [_shown(change, "facts/") for change in self.rung.machine]

    @property
    def never_steady(self) -> bool:
        return self.rung.breakdown is not None and not self.rung.breakdown.is_steady

    @property
    def predicted(self) -> str:
        promise = self.rung.predicted
        if promise is None:
            return ""
        return gettext("expected %(likely)s, at most %(bound)s") % {
            "likely": factor(promise.likely),
            "bound": factor(promise.bound),
        }

    @property
    def achieved(self) -> str:
        change = self.rung.against_previous
        if change is None:
            return self.rung.why_no_change
        return change.sentence

    @property
    def outcome(self) -> str:
        """Compare the result with the prediction, as a sentence."""
        outcome, promise = self.rung.outcome, self.rung.predicted
        if outcome is None or promise is None:
            return ""
        if outcome is Outcome.UNTRIED:
            return str(UNTRIED)
        templates = FIXED_TOO if outcome is Outcome.BEYOND_BOUND else FIXED
        return templates[promise.is_fixed] % {"outcome": outcome}

    @property
    def stage_lags(self) -> str:
        """Return a note if the stage gained little of its steps' speedup; otherwise ""."""
        change, (before, after) = self.rung.against_previous, self.rung.stage_seconds
        if change is None or change.verdict is not Verdict.FASTER:
            return ""
        if not before or not after:
            return ""
        if before / after >= 1 + SHOWN_BY_STAGE * (change.ratio - 1):
            return ""
        took = {"before": duration(before), "after": duration(after)}
        if self.rung.stage_grown is None:
            template = gettext(
                "Stage duration: %(before)s before, %(after)s now. The time saved in"
                " steps was lost elsewhere."
            )
            return template % took
        use, seconds = self.rung.stage_grown
        template = gettext(
            "Stage duration: %(before)s before, %(after)s now; %(use)s took %(longer)s"
            " longer."
        )
        return template % {**took, "use": LABELS[use], "longer": duration(seconds)}

    @property
    def loss_name(self) -> str:
        return self.rung.learned.path if self.rung.learned else ""

    @property
    def learned(self) -> list[ShownLevel]:
        learned = self.rung.learned
        if learned is None:
            return []
        found = []
        if level := learned.at_equal_time:
            after = gettext("after %(time)s") % {"time": duration(level.at)}
            found.append(_level(after, level))
        if level := learned.at_equal_examples:
            count = round(level.at)
            template = ngettext(
                "after %(count)s example", "after %(count)s examples", count
            )
            found.append(_level(template % {"count": number(count)}, level))
        return found

    def parts(self, *, per_example: bool) -> list[tuple[str, float]]:
        """Return the seconds of each part of a step, or of one of its examples."""
        step = self.rung.breakdown
        if step is None:
            return []
        examples = step.examples_per_step or 1.0 if per_example else 1.0
        return [(part.name, part.seconds / examples) for part in step.parts]


def cards_of(ladder: LadderView) -> list[RungCard]:
    known = [
        value
        for rung in ladder.rungs
        if (value := of_breakdown(rung.breakdown).per_second) is not None
    ]
    steps = [rung.breakdown for rung in ladder.rungs if rung.breakdown is not None]
    # Bars of examples and of steps have no common scale.
    has_one_unit = len({step.examples_per_step is None for step in steps}) == 1
    longest = max(known) if has_one_unit else 0.0
    return [RungCard(rung, longest, ladder.quality_path) for rung in ladder.rungs]


def shown_verdict(change: Change | None, why_not: str) -> ShownVerdict:
    if change is None:
        return ShownVerdict(UNJUDGED, "circle-help", why_not, "")
    kind = "same" if change.verdict is Verdict.SAME else str(change.verdict)
    remarks = [
        *([str(MODERATE)] if change.materiality is Materiality.MODERATE else []),
        *([str(ROUGH)] if change.is_rough else []),
    ]
    return ShownVerdict(
        kind,
        ICONS[change.verdict],
        change.headline,
        change.interval,
        remark=", ".join(remarks),
    )


def _level(where: str, level: Level) -> ShownLevel:
    kind = "worse" if level.is_worse else "better" if level.is_better else "same"
    margin = f"± {number(float(f'{level.margin:.2g}'))}"
    template = {
        "worse": gettext("worse, %(margin)s"),
        "better": gettext("better, %(margin)s"),
        "same": gettext("no measurable change, %(margin)s"),
    }[kind]
    change = template % {"margin": margin}
    before, after = (
        number(float(f"{value:.4g}")) for value in (level.before, level.after)
    )
    return ShownLevel(where, before, after, change, kind)


def _quality(row: AttributeRow | None) -> str:
    return UNKNOWN if row is None else row_text(row)


def _shown(change: ValueChange, prefix: str) -> ShownChange:
    return ShownChange(
        change.path.removeprefix(prefix),
        gettext("not set") if change.before is None else value_text(change.before),
        gettext("not set") if change.after is None else value_text(change.after),
    )
