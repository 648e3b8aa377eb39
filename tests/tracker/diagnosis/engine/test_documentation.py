from __future__ import annotations

from pathlib import Path

from django.core.management import call_command

from tracker.diagnosis.engine.documentation import index_of, page_of, signals_page
from tracker.diagnosis.engine.examples import all_examples
from tracker.diagnosis.rules import RULES

FOLDER = Path(__file__).parents[4] / "docs" / "diagnoses"


def test_the_page_of_a_rule_is_what_the_rule_says():
    for rule in RULES:
        assert (FOLDER / f"{rule.name}.md").read_text("utf-8") == page_of(rule)


def test_the_list_is_of_all_rules():
    assert (FOLDER / "index.md").read_text("utf-8") == index_of(RULES)


def test_the_page_of_signals_lists_every_signal_of_a_rule():
    page = (FOLDER / "signals.md").read_text("utf-8")

    assert page == signals_page(RULES)
    for rule in RULES:
        for name in (*rule.needs, *rule.may_use):
            assert page.count(f"- `{name}`") == 1


def test_there_is_no_page_of_a_rule_that_is_gone():
    pages = {path.stem for path in FOLDER.glob("*.md")} - {"index", "signals"}

    assert pages == {rule.name for rule in RULES}


def test_the_command_writes_new_pages_and_removes_old_ones(tmp_path):
    (tmp_path / "forgotten.md").write_text("old")

    call_command("render_rule_docs", folder=tmp_path)

    names = {path.name for path in tmp_path.iterdir()}
    assert names == {path.name for path in FOLDER.iterdir()}


def test_every_rule_has_an_example_with_evidence():
    examples = all_examples()

    assert [*examples] == sorted(rule.name for rule in RULES)
    for example in examples.values():
        assert example.title
        assert example.summary.endswith(".")
        assert example.evidence


def test_a_page_shows_the_example_and_its_origin():
    pages = {rule.name: page_of(rule) for rule in RULES}

    assert "From `accumulate-saves" in pages["checkpoints-take-long"]
    assert "From the rule's test:" in pages["gpu-reports-errors"]
