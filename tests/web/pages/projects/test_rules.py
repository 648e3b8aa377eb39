from __future__ import annotations

from http import HTTPStatus

import pytest

from tracker.diagnosis.rules import RULES
from web.pages.projects.rules import sections

pytestmark = pytest.mark.django_db


def test_every_rule_has_a_page(member, client_of):
    client = client_of(member)
    for rule in RULES:
        html = client.get(f"/docs/rules/{rule.name}").content.decode()

        assert "Limitations" in html, rule.name
        assert all(signal in html for signal in rule.needs), rule.name
        assert "Catalogue" not in html, rule.name


def test_a_rule_nobody_wrote_is_not_found(member, client_of):
    response = client_of(member).get("/docs/rules/gpu-is-sad")

    assert response.status_code == HTTPStatus.NOT_FOUND


def test_a_text_is_split_at_its_headings():
    found = sections("Before.\n\n## Why\nIt\nmatters `x = 1`.\n\nMore.\n\n## Empty")

    assert [section.title for section in found] == ["", "Why", "Empty"]
    assert [piece.text for piece in found[1].paragraphs[0]] == [
        "It matters ",
        "x = 1",
        ".",
    ]
    assert [piece.is_code for piece in found[1].paragraphs[0]] == [False, True, False]
    assert len(found[1].paragraphs) == 2
