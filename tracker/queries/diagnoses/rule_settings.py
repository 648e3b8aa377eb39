"""The disabled rules and changed limits of a project."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tracker.diagnosis.engine.limits import RuleSettings
from tracker.diagnosis.engine.rule import GROUPS, Rule
from tracker.diagnosis.rules import RULES
from tracker.models import Project


@dataclass(frozen=True, slots=True)
class LimitRow:
    name: str
    value: float
    usual: float

    @property
    def is_changed(self) -> bool:
        return self.value != self.usual

    @property
    def is_whole(self) -> bool:
        return isinstance(self.usual, int)


@dataclass(frozen=True, slots=True)
class RuleRow:
    name: str
    title: str
    is_off: bool
    limits: list[LimitRow]

    @property
    def is_changed(self) -> bool:
        return self.is_off or any(limit.is_changed for limit in self.limits)


@dataclass(frozen=True, slots=True)
class RuleGroup:
    title: str
    rules: list[RuleRow]


def settings_of(project: Project) -> dict[str, RuleSettings]:
    """Return the changed settings by rule name."""
    return {
        name: settings_from(stored) for name, stored in project.rule_settings.items()
    }


# Any: JSON of a row.
def settings_from(stored: Mapping[str, Any]) -> RuleSettings:
    return RuleSettings(bool(stored.get("off")), dict(stored.get("limits") or {}))


def rule_groups(project: Project) -> list[RuleGroup]:
    """Return every rule with its limits in a project, by group."""
    settings = settings_of(project)
    return [
        RuleGroup(
            title,
            [
                _row(rule, settings.get(rule.name, RuleSettings()))
                for rule in RULES
                if rule.group == letter
            ],
        )
        for letter, title in GROUPS.items()
        if any(rule.group == letter for rule in RULES)
    ]


def _row(rule: Rule, settings: RuleSettings) -> RuleRow:
    return RuleRow(
        rule.name,
        rule.title,
        settings.is_off,
        [
            LimitRow(name, settings.limits.get(name, default), default)
            for name, default in rule.limits.items()
        ],
    )
