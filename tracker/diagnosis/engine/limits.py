"""Per-project rule settings: disabled rules and changed limits."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from tracker.diagnosis.engine.rule import Rule
from tracker.diagnosis.rules import RULES

BY_NAME = {rule.name: rule for rule in RULES}

LARGEST_LIMIT = 1e15


@dataclass(frozen=True, slots=True)
class RuleSettings:
    """`limits` are those that differ from the rule's defaults, by their names."""

    is_off: bool = False
    limits: Mapping[str, float] = field(default_factory=dict)

    @property
    def is_changed(self) -> bool:
        return self.is_off or bool(self.limits)


class InvalidLimit(ValueError):
    """The value of a limit is invalid; `limit` names it, the message has the reason."""

    def __init__(self, limit: str, requirement: str) -> None:
        super().__init__(requirement)
        self.limit = limit


def rules_under(settings: Mapping[str, RuleSettings]) -> tuple[Rule, ...]:
    """Return the enabled rules; settings of removed rules are ignored."""
    usual = RuleSettings()
    chosen = [(rule, settings.get(rule.name, usual)) for rule in RULES]
    return tuple(_under(rule, wanted) for rule, wanted in chosen if not wanted.is_off)


def limits_under(settings: Mapping[str, RuleSettings], rule: str) -> dict[str, float]:
    """Return a rule's limits by their names, with those that a project has changed."""
    return _under(BY_NAME[rule], settings.get(rule, RuleSettings())).limits


def checked_limit(rule: Rule, name: str, value: float) -> float:
    """Return the value in the type of the rule's default, or raise InvalidLimit."""
    usual = rule.limits.get(name)
    if usual is None:
        raise InvalidLimit(name, "is not a limit of this rule")
    if not math.isfinite(value) or abs(value) > LARGEST_LIMIT:
        raise InvalidLimit(name, "must be a finite number")
    if isinstance(usual, int) and not float(value).is_integer():
        raise InvalidLimit(name, "must be a whole number")
    # Many computations divide by a limit.
    if usual > 0 and not value > 0:
        raise InvalidLimit(name, "must be more than 0")
    return int(value) if isinstance(usual, int) else float(value)


def changed_limits(rule: Rule, limits: Mapping[str, float]) -> dict[str, float]:
    """Check limits, and return those that differ from the rule's defaults."""
    checked = {name: checked_limit(rule, name, limits[name]) for name in limits}
    return {
        name: value for name, value in checked.items() if value != rule.limits[name]
    }


def _under(rule: Rule, wanted: RuleSettings) -> Rule:
    known = {name: v for name, v in wanted.limits.items() if name in rule.limits}
    return rule.with_limits(known) if known else rule
