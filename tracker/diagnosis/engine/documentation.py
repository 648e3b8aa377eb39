"""Renders the pages of rules, their index and the page of signals from the rules."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from tracker.diagnosis.engine.examples import Example, all_examples
from tracker.diagnosis.engine.rule import GROUPS, Rule, Span
from tracker.diagnosis.signals import SIGNALS, Signal

NOTICE = "<!-- Written by `manage.py render_rule_docs`; change the rule instead. -->"
INTRODUCTION = """# Diagnosis rules

A rule reads the signals of a stage. It reports a finding, no finding, or *not enough data*
if a required signal is missing. Without an optional signal a rule is less specific or less
confident. Each page has:

- *Detection*: the condition. *Why it matters*: the cost. *Limitations*: cases in which the
  rule can be wrong.
- *Example*: a finding from a [recorded script or synthetic job](../evaluation.md), or from
  the rule's test.
- *Inputs*: the part of the stage that the rule reads, and its [signals](signals.md).

The page of a rule in Seamark also lists its limits, which owners and admins can change in
the [rule settings](../how-to/rule-settings.md)."""
SIGNALS_INTRODUCTION = """# Signals

Rules read these signals. The headings show the code that provides them.
[Metrics and facts](../monitoring.md) lists the stored metrics."""


def page_of(rule: Rule) -> str:
    parts = [
        NOTICE,
        f"# {rule.title}",
        rule.explanation,
        "## Example",
        _example(rule, all_examples()[rule.name]),
        "## Inputs",
        _inputs(rule),
    ]
    return "\n\n".join(parts) + "\n"


def index_of(rules: Iterable[Rule]) -> str:
    parts = [NOTICE, INTRODUCTION]
    for group, grouped in groupby(rules, key=lambda rule: rule.group):
        parts.append(f"## {GROUPS[group]}")
        parts.append("\n".join(f"- [{r.title}]({r.name}.md)" for r in grouped))
    return "\n\n".join(parts) + "\n"


def signals_page(rules: Iterable[Rule]) -> str:
    """Return the page of all signals that rules use, by the code that provides them."""
    used = {name for rule in rules for name in (*rule.needs, *rule.may_use)}
    by_code: dict[str, list[Signal]] = {}
    for name, signal in SIGNALS.items():
        if name in used:
            by_code.setdefault(signal.code, []).append(signal)
    parts = [NOTICE, SIGNALS_INTRODUCTION]
    for code, signals in by_code.items():
        lines = [f"- `{s.name}`{_unit(s)}: {s.description}" for s in signals]
        parts += [f"## `{code}`", "\n".join(lines)]
    return "\n\n".join(parts) + "\n"


def _example(rule: Rule, example: Example) -> str:
    origin = f"`{example.recording}`" if example.recording else "the rule's test"
    title = "" if example.title == rule.title else f"**{example.title}.** "
    return f"From {origin}:\n\n> {title}{example.summary}"


def _inputs(rule: Rule) -> str:
    lines = [("Scope", _scope(rule)), ("Required signals", _names(rule.needs))]
    if rule.may_use:
        lines.append(("Optional signals", _names(rule.may_use)))
    return "\n".join(f"- {label}: {text}" for label, text in lines)


def _names(signals: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in signals)


def _unit(signal: Signal) -> str:
    return "" if signal.is_text or not signal.unit else f" ({signal.unit})"


def _scope(rule: Rule) -> str:
    part = "whole stage" if rule.span is Span.STAGE else "stage without warm-up"
    return f"{part}, each GPU" if rule.is_per_gpu else part
