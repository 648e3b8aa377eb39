"""Counts words that plain technical English rarely needs, per 1,000 words of prose.

python -m tests.prose            prints the counts by kind of text
python -m tests.prose --files    also the files with the most of them
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import tokenize
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGES = ("agent", "tracker", "web", "tests", "benchmarks", "evaluation")
BROWSER_FILES = ("web/static/web/js", "web/static/web/css", "web/templates")
MESSAGES = ROOT / "web/locale/en/LC_MESSAGES/django.po"
WORDS = {
    "what": re.compile(r"\bwhat(?:ever)?\b", re.IGNORECASE),
    "whoever, nobody, somebody": re.compile(
        r"\b(?:whoever|whom|nobody|somebody)\b", re.IGNORECASE
    ),
    "say, tell": re.compile(r"\b(?:says?|said|tells?|told)\b", re.IGNORECASE),
}
RIDDLE = re.compile(r"(?:^|[.!?:] +)(?:Of|What|Who|That) ")
WORD = re.compile(r"[A-Za-z][A-Za-z'-]*")
COMMENTS = {
    ".js": re.compile(r"(?:^|\s)// ?(.*)", re.MULTILINE),
    ".css": re.compile(r"/\*(.*?)\*/", re.DOTALL),
    ".html": re.compile(
        r"\{#(.*?)#\}|\{% comment %\}(.*?)\{% endcomment %\}", re.DOTALL
    ),
}
CODE = re.compile(r"```.*?```|`[^`]*`|<!--.*?-->", re.DOTALL)


@dataclass
class Counts:
    """Matches of each kind, words and sentences of the texts read so far."""

    words: int = 0
    sentences: int = 0
    riddles: int = 0
    found: Counter[str] = field(default_factory=Counter)

    def add(self, text: str) -> None:
        self.words += len(WORD.findall(text))
        self.sentences += max(1, len(re.findall(r"[.!?](?:\s|$)", text)))
        self.riddles += len(RIDDLE.findall(text))
        for name, pattern in WORDS.items():
            self.found[name] += len(pattern.findall(text))

    def rates(self) -> dict[str, float]:
        """Return matches per 1,000 words, and the percentage of riddling sentences."""
        rates = {name: 1_000 * self.found[name] / max(1, self.words) for name in WORDS}
        return rates | {"riddles, %": 100 * self.riddles / max(1, self.sentences)}


def texts_of_code() -> Iterator[tuple[Path, str]]:
    """Yield the comments and docstrings of each module."""
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            source = path.read_text("utf-8")
            tokens = tokenize.generate_tokens(io.StringIO(source).readline)
            comments = " ".join(
                token.string.lstrip("# ")
                for token in tokens
                if token.type == tokenize.COMMENT
            )
            nodes = (
                node
                for node in ast.walk(ast.parse(source))
                if isinstance(
                    node,
                    ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef,
                )
            )
            docstrings = [ast.get_docstring(node) or "" for node in nodes]
            yield path, "\n".join([comments, *docstrings])


def texts_of_browser() -> Iterator[tuple[Path, str]]:
    """Yield the comments of each script, style sheet and template."""
    for folder in BROWSER_FILES:
        for path in sorted((ROOT / folder).rglob("*")):
            if pattern := COMMENTS.get(path.suffix):
                found = pattern.findall(path.read_text("utf-8"))
                groups = ["".join(match) for match in found]
                yield path, " ".join(text.strip() for text in groups)


def texts_of_docs() -> Iterator[tuple[Path, str]]:
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    for path in sorted(pages):
        yield path, CODE.sub(" ", path.read_text("utf-8"))


def texts_of_pages() -> Iterator[tuple[Path, str]]:
    """Yield every English string of the pages, from the file of messages."""
    for block in MESSAGES.read_text("utf-8").split("\n\n"):
        quoted = re.findall(r'^(?:msgid(?:_plural)? )?"(.*)"$', block, re.MULTILINE)
        yield MESSAGES, " ".join(quoted)


KINDS = {
    "code": texts_of_code,
    "browser": texts_of_browser,
    "docs": texts_of_docs,
    "pages": texts_of_pages,
}


def counts_of(kind: str) -> Counts:
    counts = Counts()
    for _, text in KINDS[kind]():
        counts.add(text)
    return counts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", action="store_true")
    chosen = parser.parse_args()
    for kind, read in KINDS.items():
        counts = counts_of(kind)
        rates = ", ".join(f"{name} {rate:.2f}" for name, rate in counts.rates().items())
        print(f"{kind}: {counts.words:,} words: {rates}")  # noqa: T201
        if not chosen.files:
            continue
        by_file: Counter[Path] = Counter()
        for path, text in read():
            by_file[path] += sum(len(p.findall(text)) for p in WORDS.values())
        for path, count in by_file.most_common(15):
            print(f"  {count:5} {path.relative_to(ROOT)}")  # noqa: T201


if __name__ == "__main__":
    main()
