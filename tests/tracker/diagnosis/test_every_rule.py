"""Requirements for every rule."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.tracker.diagnosis.stages import SECOND, START, examples
from tracker.diagnosis import rules
from tracker.diagnosis.engine.diagnosis import diagnose
from tracker.diagnosis.engine.finding import Evidence, Finding, Side
from tracker.diagnosis.engine.measurements import Measurements, Steps
from tracker.diagnosis.engine.rule import Rule
from tracker.diagnosis.signals import (
    SIGNALS,
    EarlierRun,
    Kind,
    Ranks,
    Samples,
    Tracked,
)

DIAGNOSIS = Path(rules.__file__).parents[1]
# Index of the limit among the fields of an evidence.
LIMIT = list(Evidence.__dataclass_fields__).index("limit")

OF_REQUESTS = ("request", "queue", "load_model", "compute")
SECTIONS = ("## Detection", "## Why it matters", "## Limitations")

every_rule = pytest.mark.parametrize("rule", rules.RULES, ids=lambda rule: rule.name)

ODD = {
    "nan": np.nan,
    "infinity": np.inf,
    "minus infinity": -np.inf,
    "zero": 0.0,
    "negative": -1.0,
    "tiny": 5e-324,
    "huge": 1e308,
    "one": 1.0,
}


def test_every_rule_explains_itself_and_has_limits():
    for rule in rules.RULES:
        assert all(section in rule.explanation for section in SECTIONS), rule.name
        assert rule.title
        assert not rule.title.endswith("."), rule.name
        assert rule.limits, rule.name


@every_rule
def test_every_rule_reads_each_of_its_limits(rule):
    tree = source_of(rule)
    read = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and ast.unparse(node.value) in ("limits", "self.limits")
    }
    limits = next(node for node in tree.body if getattr(node, "name", "") == "Limits")
    # Properties combine limits.
    read |= {n.attr for n in ast.walk(limits) if isinstance(n, ast.Attribute)}

    assert {name.replace(" ", "_") for name in rule.limits} <= read


@every_rule
def test_every_number_of_a_rule_is_a_limit(rule):
    constants = {
        ast.unparse(statement.targets[0])
        for statement in source_of(rule).body
        if isinstance(statement, ast.Assign)
        and isinstance(statement.value, ast.BinOp | ast.UnaryOp | ast.Constant)
        and not isinstance(getattr(statement.value, "value", 0), str)
    }

    assert constants <= {"MICROSECONDS"}


def source_of(rule: Rule) -> ast.Module:
    path = DIAGNOSIS / "rules" / f"{rule.name.replace('-', '_')}.py"
    return ast.parse(path.read_text())


def test_every_rule_is_unanswered_without_its_signals():
    diagnosis = diagnose(Measurements())

    assert not diagnosis.failed
    for rule in rules.RULES:
        # A rule with several alternatives lists its missing signals itself.
        lacks = diagnosis.unanswered[rule.name]
        assert lacks == rule.needs if rule.needs else {*lacks} <= SIGNALS.keys()


@every_rule
def test_every_rule_has_examples_of_alarm(rule):
    for measurements in examples(rule, "ALARMS"):
        # Together with all rules: a rule that abstains must not hide the finding of another.
        diagnosis = diagnose(measurements)
        found = [j for j in diagnosis.findings if j.rule == rule.name]

        assert found
        assert not diagnosis.failed
        for judgement in found:
            expect_all_that_a_page_shows(judgement)


# A row of evidence starts with its subject, not with the statistic.
BARE = re.compile(
    r"^(\d+th percentile|median|mean|highest|peak|share|of|in|for|that|whether|at|last)\b"
)
PERCENT = re.compile(r"(\d+(?:\.\d+)?) %")


def test_every_row_of_evidence_names_its_subject():
    bare = {(rule.name, row.statistic) for rule, _, row in rows() if is_bare(row)}

    assert bare == set()


def is_bare(row: Evidence) -> bool:
    return BARE.match(row.statistic) is not None


def test_evidence_shows_only_limits_that_were_crossed():
    idle = {
        (rule.name, row.statistic)
        for rule, _, row in rows()
        if row.limit is not None and not row.is_crossed
    }

    assert idle == set()


def test_percentages_of_a_sentence_match_its_evidence():
    found = {(r.name, f.summary): f for r, f, _ in rows()}
    assert [where for where, f in found.items() if unmatched(f)] == []


def unmatched(finding: Finding) -> list[str]:
    """Return percentages that follow from no row of evidence."""
    known = list(percentages(finding.evidence))
    known += [100 - value for value in known]
    shares = PERCENT.findall(finding.summary)
    # The difference of two values is also allowed.
    known += [
        float(one)
        for one in shares
        for other in shares
        if any(abs(abs(float(one) - float(other)) - value) < 1 for value in known)
    ]
    return [
        text
        for text in shares
        if not any(
            abs(float(text) - value) <= (0.06 if "." in text else 0.51)
            for value in known
        )
    ]


def percentages(evidence: tuple[Evidence, ...]) -> Iterator[float]:
    for row in evidence:
        for value in (row.value, row.limit):
            if value is not None and row.unit in ("share", "%"):
                yield value * (100 if row.unit == "share" else 1)
        if row.limit:
            yield 100 * row.value / row.limit
        # Parts of a whole, such as used cores of all cores.
        yield from (
            100 * row.value / other.value
            for other in evidence
            if other.unit == row.unit and other.value
        )


def rows() -> Iterator[tuple[Rule, Finding, Evidence]]:
    for rule in rules.RULES:
        for measurements in examples(rule, "ALARMS"):
            for judgement in diagnose(measurements, rules=[rule]).findings:
                for row in judgement.finding.evidence:
                    yield rule, judgement.finding, row


def test_every_limit_says_which_side_of_it_counts():
    silent = []
    for path in sorted(DIAGNOSIS.rglob("*.py")):
        for call in ast.walk(ast.parse(path.read_text())):
            if not isinstance(call, ast.Call) or _name_of(call) != "Evidence":
                continue
            named = {keyword.arg for keyword in call.keywords}
            has_limit = len(call.args) > LIMIT or "limit" in named
            if has_limit and len(call.args) <= LIMIT + 1 and "side" not in named:
                silent.append(f"{path.name}:{call.lineno}")

    assert silent == []


@every_rule
def test_every_alarm_cites_a_value_beyond_its_limit_and_known_rules(rule):
    names = {known.name for known in rules.RULES}
    for measurements in examples(rule, "ALARMS"):
        for judgement in diagnose(measurements, rules=[rule]).findings:
            finding = judgement.finding
            assert {*finding.explains, *finding.comes_after} <= names
            cited = finding.evidence
            limited = [each for each in cited if each.limit is not None and each.side]
            assert not limited or any(is_beyond(each) for each in limited)
            assert not any(is_release_beyond(each) for each in limited)


def is_beyond(cited: Evidence) -> bool:
    if cited.side is Side.BELOW:
        return cited.value <= cited.limit
    return cited.value >= cited.limit


def is_release_beyond(cited: Evidence) -> bool:
    """Return whether a finding would clear before it could open."""
    if cited.release is None:
        return False
    if cited.side is Side.BELOW:
        return cited.release < cited.limit
    return cited.release > cited.limit


def _name_of(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else ""


@every_rule
def test_every_rule_has_examples_of_silence(rule):
    for measurements in examples(rule, "SILENCES"):
        diagnosis = diagnose(measurements, rules=[rule])

        assert diagnosis.healthy == (rule.name,)


def expect_all_that_a_page_shows(judgement):
    finding = judgement.finding
    assert judgement.title
    assert finding.summary.endswith(".")
    assert finding.disproof.endswith(".")
    assert finding.recommendations
    assert finding.evidence
    assert {evidence.signal for evidence in finding.evidence} <= SIGNALS.keys()
    assert 0.5 <= finding.margin <= 1.0
    if finding.gain:
        assert 1.0 <= finding.gain.likely <= finding.gain.bound


@pytest.mark.parametrize("length", [0, 1, 2, 11, 60, 700])
@pytest.mark.parametrize("odd", ODD.values(), ids=ODD.keys())
def test_no_rule_fails_whatever_was_measured(odd, length):
    for every_other in (False, True):
        assert failed(strange(odd, length, mixed=every_other)) == ()


@pytest.mark.parametrize("seed", range(6))
def test_no_rule_fails_on_random_mixtures(seed):
    random = np.random.default_rng(seed)
    for _ in range(10):
        odd, length = random.choice(list(ODD.values())), int(random.integers(0, 400))
        measurements = strange(float(odd), length, mixed=True, random=random)

        assert failed(measurements) == ()


def failed(measurements: Measurements) -> tuple[str, ...]:
    """Evaluate all rules together, because preparing the measurements is the slow part."""
    diagnosis = diagnose(measurements)
    told = {*diagnosis.healthy, *diagnosis.unanswered, *diagnosis.failed}
    told |= {judgement.rule for judgement in diagnosis.findings}
    assert told == {rule.name for rule in rules.RULES}
    return diagnosis.failed


def strange(odd, length, *, mixed, random=None) -> Measurements:
    """Return every signal with unusual values and facts."""
    random = random or np.random.default_rng(length)

    def values() -> np.ndarray:
        chosen = np.full(length, odd)
        if mixed:
            plain = random.random(length) < 0.7
            chosen[plain] = random.random(plain.sum())
        return chosen

    times = START + np.arange(length) * SECOND
    steps = np.arange(length, dtype=np.float64)

    def of_kind(kind: Kind):
        return [s for s in SIGNALS.values() if s.kind is kind and not s.is_per_gpu]

    gpu = {
        signal.name: Samples(times, values())
        if signal.kind is Kind.SAMPLED
        else "plain"
        if signal.is_text
        else odd
        for signal in SIGNALS.values()
        if signal.is_per_gpu
    }
    phases = {name: values() for name in ("forward", "communicate", "checkpoint")}
    side_by_side = {
        name: np.column_stack([values(), values()])
        for name in ("step_seconds", "data_wait_seconds", "phase/communicate")
    }
    return Measurements(
        steps=Steps(
            steps,
            times,
            {signal.name: values() for signal in of_kind(Kind.PER_STEP)},
            {signal.name: phases for signal in of_kind(Kind.PHASES)},
        ),
        samples={s.name: Samples(times, values()) for s in of_kind(Kind.SAMPLED)},
        facts={s.name: "plain" if s.is_text else odd for s in of_kind(Kind.FACT)},
        gpus={0: gpu, 1: gpu},
        gpu_count=2,
        spans={name: Samples(times, values()) for name in (*phases, *OF_REQUESTS)},
        request_parts={name: Samples(times, values()) for name in OF_REQUESTS},
        losses={"train/loss": Tracked(steps, times, values())},
        ranks=Ranks((0, 1), steps, times, side_by_side),
        earlier={
            s.name: earlier_run(odd, times, values()) for s in of_kind(Kind.EARLIER)
        },
    )


def earlier_run(odd, times, values) -> EarlierRun:
    steps = np.arange(len(times), dtype=np.float64)
    return EarlierRun(
        "earlier",
        ranks=odd,
        step_seconds=odd,
        examples_per_second=odd,
        parts={"forward": odd},
        step_times=times,
        step_examples=values,
        losses={"train/loss": Tracked(steps, times, values)},
    )
