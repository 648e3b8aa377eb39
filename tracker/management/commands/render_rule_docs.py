"""Writes docs/diagnoses/ from the rules."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from tracker.diagnosis.engine.documentation import index_of, page_of, signals_page
from tracker.diagnosis.rules import RULES

FOLDER = Path(__file__).parents[3] / "docs" / "diagnoses"


class Command(BaseCommand):
    help = "Generate the documentation pages of all rules."
    # It uses neither the database nor the pages.
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--folder", type=Path, default=FOLDER)

    def handle(self, *args: Any, **options: Any) -> None:
        folder: Path = options["folder"]
        folder.mkdir(parents=True, exist_ok=True)
        pages = {f"{rule.name}.md": page_of(rule) for rule in RULES}
        pages["index.md"] = index_of(RULES)
        pages["signals.md"] = signals_page(RULES)

        for old in folder.glob("*.md"):
            if old.name not in pages:
                old.unlink()
        for name, text in pages.items():
            (folder / name).write_text(text, encoding="utf-8")
