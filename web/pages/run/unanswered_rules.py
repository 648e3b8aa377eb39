"""Rules without enough data for a stage, grouped by the missing data (pure)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tracker.diagnosis.engine.finding import NO_GPU
from tracker.diagnosis.engine.supply import OF_SAMPLES
from tracker.queries.diagnoses.diagnoses import RuleElsewhere, UnansweredRule


@dataclass(frozen=True, slots=True)
class UnansweredGroup:
    """Rules that need the same lines of code, or have the same text.

    `needs` is the most frequent missing signal, as part of a sentence. Without `codes`,
    `advice` has the sentences that say how to supply it.
    """

    needs: str
    codes: tuple[str, ...]
    rules: tuple[UnansweredRule, ...]
    advice: str = ""


@dataclass(frozen=True, slots=True)
class ElsewhereGroup:
    """Rules for other kinds of stages; `needs` is the feature that this stage lacks."""

    needs: str
    rules: tuple[RuleElsewhere, ...]


def group_by_missing_data(rules: Iterable[UnansweredRule]) -> list[UnansweredGroup]:
    """Group rules, the largest group first; one of a kind stay in their order."""
    found: dict[tuple[tuple[str, ...], str], list[UnansweredRule]] = {}
    for rule in rules:
        codes = _codes(rule)
        found.setdefault((codes, "" if codes else rule.needs), []).append(rule)
    groups = [
        UnansweredGroup(
            _most_common_need(same),
            codes,
            tuple(same),
            advice="" if codes else _advice(same[0]),
        )
        for (codes, _), same in found.items()
    ]
    return sorted(groups, key=lambda group: len(group.rules), reverse=True)


def by_what_is_missing(rules: Iterable[RuleElsewhere]) -> list[ElsewhereGroup]:
    found: dict[str, list[RuleElsewhere]] = {}
    for rule in rules:
        found.setdefault(rule.needs, []).append(rule)
    return [ElsewhereGroup(needs, tuple(same)) for needs, same in found.items()]


def of_gpus(rules: Iterable[RuleElsewhere]) -> list[RuleElsewhere]:
    """Return the rules that lack only a GPU."""
    return [rule for rule in rules if rule.needs == NO_GPU]


def of_others(rules: Iterable[RuleElsewhere]) -> list[RuleElsewhere]:
    return [rule for rule in rules if rule.needs != NO_GPU]


def _codes(rule: UnansweredRule) -> tuple[str, ...]:
    """Return its lines; commands that bring back samples only if it lacks nothing else."""
    codes = dict.fromkeys(lack.code for lack in rule.lacks if lack.code)
    return tuple(c for c in codes if c not in OF_SAMPLES) or tuple(codes)


def _advice(rule: UnansweredRule) -> str:
    return " ".join(dict.fromkeys(lack.advice for lack in rule.lacks if lack.advice))


def _most_common_need(rules: Sequence[UnansweredRule]) -> str:
    if len(rules) == 1:
        return rules[0].needs
    counts = Counter(need for rule in rules for need in rule.each_need)
    return counts.most_common(1)[0][0] if counts else ""
