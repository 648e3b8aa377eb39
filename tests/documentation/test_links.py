"""Links between pages of the documentation lead to files and headings that exist."""

from __future__ import annotations

import re
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs"
LINK = re.compile(r"\]\((?!https?:|mailto:)([^)\s#]*)(?:#([^)\s]+))?\)")
HEADING = re.compile(r"^#{1,6} (.+?)(?: \{#([\w-]+)\})?$", re.MULTILINE)
CODE_BLOCK = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.MULTILINE | re.DOTALL)


def anchors(page: Path) -> set[str]:
    """Return the ids of a page's headings, as Python-Markdown makes them."""
    text = CODE_BLOCK.sub("", page.read_text("utf-8"))
    return {
        given or re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", title).strip().lower())
        for title, given in HEADING.findall(text)
    }


def test_links_lead_to_files_and_headings():
    broken = []
    for page in sorted(DOCS.rglob("*.md")):
        for path, anchor in LINK.findall(CODE.sub("", page.read_text("utf-8"))):
            target = (page.parent / path).resolve() if path else page
            if not target.exists() or (
                anchor and target.suffix == ".md" and anchor not in anchors(target)
            ):
                broken.append(f"{page.relative_to(DOCS)}: {path}#{anchor}")

    assert broken == []
