"""Renders the page of each rule and the index page from the rules themselves."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from tracker.diagnosis.engine.examples import Example, all_examples
from tracker.diagnosis.engine.rule import GROUPS, Rule, Span
from tracker.diagnosis.signals import SIGNALS

NOTICE = "<!-- Written by `manage.py render_rule_docs`; change the rule instead. -->"


def page_of(rule: Rule) -> str:
    parts = [
        NOTICE,
        f"# {rule.title}",
        rule.explanation,
        "## Example",
        _example(all_examples()[rule.name]),
        "## Signals",
        _signals(rule),
        "## Thresholds",
        _limits(rule),
        "## Scope",
        _span(rule),
    ]
    return "\n\n".join(parts) + "\n"


def index_of(rules: Iterable[Rule]) -> str:
    parts = [NOTICE, "# Diagnosis rules"]
    for group, grouped in groupby(rules, key=lambda rule: rule.group):
        rows = [f"| [{r.title}]({r.name}.md) | {_scope(r)} |" for r in grouped]
        parts.append(f"## {GROUPS[group]}")
        parts.append("\n".join(["| rule | scope |", "|---|---|", *rows]))
    return "\n\n".join(parts) + "\n"


def _example(example: Example) -> str:
    source = (
        f"From the recording `{example.recording}` in `evaluation/tune/`:"
        if example.recording
        else "No recording yet. From the made-up stage of the rule's test:"
    )
    rows = [
        f"| {row.statistic} | {row.value} | {row.limit} |" for row in example.evidence
    ]
    table = "\n".join(["| evidence | value | limit |", "|---|---|---|", *rows])
    return f"{source}\n\n> **{example.title}.** {example.summary}\n\n{table}"


def _signals(rule: Rule) -> str:
    rows = [_signal(name, "yes") for name in rule.needs]
    rows += [_signal(name, "no") for name in rule.may_use]
    head = [
        "| signal | unit | needed | meaning | provided by |",
        "|---|---|---|---|---|",
    ]
    return "\n".join([*head, *rows])


def _signal(name: str, needed: str) -> str:
    signal = SIGNALS[name]
    unit = "" if signal.is_text else signal.unit
    cells = (f"`{name}`", unit, needed, signal.description, f"`{signal.code}`")
    return f"| {' | '.join(cells)} |"


def _limits(rule: Rule) -> str:
    rows = [f"| {name} | {value:g} |" for name, value in rule.limits.items()]
    return "\n".join(["| limit | value |", "|---|---|", *rows])


def _span(rule: Rule) -> str:
    if rule.span is Span.STAGE:
        return f"All of a stage, for {_scope(rule)}."
    return f"The steady part of a stage, without warm-up, for {_scope(rule)}."


def _scope(rule: Rule) -> str:
    return "each GPU" if rule.is_per_gpu else "the stage as a whole"
