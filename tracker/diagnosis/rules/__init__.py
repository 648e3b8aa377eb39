"""Every rule the tracker knows, in the order findings of equal weight are shown.

A rule is a file of this folder: a new one needs no other line.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from tracker.diagnosis.rule import Rule

RULES = tuple(
    sorted(
        (
            Rule.from_module(import_module(f"{__name__}.{module.name}"))
            for module in iter_modules(__path__)
        ),
        key=lambda rule: rule.order,
    )
)
