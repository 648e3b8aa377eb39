"""docs/commands.md equals the generated reference of the commands."""

from __future__ import annotations

import re
from pathlib import Path

from seamark.commands import COMMANDS
from seamark.commands.parsing import options_of, parser_of
from seamark.commands.reference import reference

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/commands.md"
# Every `seamark` command line in the documentation.
TYPED = [
    (page, name, words)
    for page in sorted({ROOT / "README.md", *(ROOT / "docs").rglob("*.md")})
    for name, words in re.findall(
        r"^\s*(?:.*\| )?seamark ((?:import )?[a-z]\S*)(.*)$",
        page.read_text("utf-8"),
        re.M,
    )
]


def test_the_page_is_written_from_the_commands():
    assert PAGE.read_text("utf-8") == reference(), (
        "run: python -m seamark.commands.reference > docs/commands.md"
    )


def test_documented_commands_have_the_options_that_are_shown():
    assert TYPED
    for page, name, words in TYPED:
        options = options_of(parser_of(name, COMMANDS[name]))
        used = re.findall(r"(?<!\S)--[a-z-]+", words.partition(" -- ")[0])

        assert set(used) <= set(options), (page, name)
