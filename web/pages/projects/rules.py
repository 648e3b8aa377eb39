"""The documentation page of a diagnosis rule."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from tracker.diagnosis.engine.examples import all_examples
from tracker.diagnosis.rules import RULES
from tracker.diagnosis.signals import SIGNALS
from tracker.errors import NotFound
from web.session import PageRequest, signed_in

HEADING = "## "


@dataclass(frozen=True, slots=True)
class Piece:
    text: str
    is_code: bool


@dataclass(frozen=True, slots=True)
class Section:
    title: str
    paragraphs: list[list[Piece]]


@require_safe
@signed_in
def rule_page(request: PageRequest, rule: str) -> HttpResponse:
    found = next((known for known in RULES if known.name == rule), None)
    if found is None:
        raise NotFound("rule")
    context = {
        "rule": found,
        "sections": sections(found.explanation),
        "example": all_examples()[found.name],
        "needs": [SIGNALS[name] for name in found.needs],
        "may_use": [SIGNALS[name] for name in found.may_use],
        "limits": found.limits.items(),
    }
    return render(request, "rules/rule.html", context)


def sections(explanation: str) -> list[Section]:
    """Split a rule's text at its headings; the part before the first has no title."""
    parts: list[Section] = [Section("", [])]
    for block in explanation.split("\n\n"):
        text = block.strip()
        if text.startswith(HEADING):
            title, _, text = text.removeprefix(HEADING).partition("\n")
            parts.append(Section(title.strip(), []))
        if text.strip():
            parts[-1].paragraphs.append(_pieces(" ".join(text.split())))
    return [part for part in parts if part.title or part.paragraphs]


def _pieces(paragraph: str) -> list[Piece]:
    """Return the text without the parts in backticks."""
    return [
        Piece(text, is_code=position % 2 == 1)
        for position, text in enumerate(paragraph.split("`"))
        if text
    ]
