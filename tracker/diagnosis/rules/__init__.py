"""All diagnosis rules, in the order in which findings of equal weight are shown.

Each module of this folder is a rule; a new rule needs no registration.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from tracker.diagnosis.engine.rule import Rule

RULES = tuple(
    sorted(
        (
            Rule.from_module(import_module(f"{__name__}.{module.name}"))
            for module in iter_modules(__path__)
        ),
        key=lambda rule: rule.order,
    )
)
