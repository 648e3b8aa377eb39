"""All English texts of pages are marked for translation."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.web.script_texts import unmarked_strings

WEB = Path(__file__).resolve().parents[2] / "web"
TEMPLATES, SCRIPTS = WEB / "templates", WEB / "static" / "web" / "js"
# Markup with marked texts, which is removed first.
MARKED = re.compile(
    r"{%\s*blocktranslate\b.*?{%\s*endblocktranslate\s*%}|{%\s*translate\b.*?%}"
    r"|_\(\"[^\"]*\"\)|_\('[^']*'\)"
    # Names of kinds of fields, which browsers read.
    r"|autocomplete=\"[^\"]*\"",
    re.DOTALL,
)
UNSEEN = re.compile(r"{%\s*comment\b.*?{%\s*endcomment\s*%}|{#.*?#}", re.DOTALL)
TAG = re.compile(r"{%.*?%}|{{.*?}}", re.DOTALL)
LITERAL = re.compile(r"""("[^"]*"|'[^']*')""")
# Arguments of these tags are names, addresses and classes, not texts.
NAMES_ONLY = re.compile(
    r"{%\s*(?:url|load|static|icon|extends|block|now|if|elif|with)\b"
)
# A text begins like a sentence, or has two words of letters.
TEXT = re.compile(r"[^\W\d_]{2}")
SENTENCE = re.compile(r"^[A-Z][a-z]+|[A-Za-z]{2,} [A-Za-z]{2,}")
SPOKEN = frozenset(
    {"alt", "aria-description", "aria-label", "label", "placeholder", "title"}
)
# Code and input are the same in all languages.
VERBATIM = frozenset({"code", "kbd", "pre", "script", "style", "svg"})
NAME = "Seamark"


def unmarked_texts(template: str) -> list[str]:
    """Return the texts that people see and that no tag marks.

    >>> unmarked_texts('<p title="Runs">{% translate "All" %}<code>as it is</code></p>')
    ['title="Runs"']
    """
    template = MARKED.sub("", UNSEEN.sub("", template))
    found = [
        literal
        for tag in TAG.findall(template)
        if not NAMES_ONLY.match(tag)
        for literal in LITERAL.findall(tag)
        if SENTENCE.search(literal[1:-1])
    ]
    # Tags inside attributes contain quotes.
    seen = _Seen()
    seen.feed(TAG.sub("", template))
    seen.close()
    return found + seen.texts


class _Seen(HTMLParser):
    """Collects texts and spoken attributes of the rest of a template."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.verbatim: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in VERBATIM:
            self.verbatim.append(tag)
        for name, value in attrs:
            if name in SPOKEN and value and _is_text(value):
                self.texts.append(f'{name}="{value}"')

    def handle_endtag(self, tag: str) -> None:
        if self.verbatim and self.verbatim[-1] == tag:
            self.verbatim.pop()

    def handle_data(self, data: str) -> None:
        if not self.verbatim and _is_text(data):
            self.texts.append(data.strip())


def _is_text(value: str) -> bool:
    return bool(TEXT.search(value.replace(NAME, "")))


def test_every_text_is_marked():
    found = {
        path: unmarked_texts(path.read_text()) for path in TEMPLATES.rglob("*.html")
    }

    assert found
    assert {path: texts for path, texts in found.items() if texts} == {}


@pytest.mark.parametrize(
    ("template", "found"),
    [
        ("<p>Runs</p>", ["Runs"]),
        ("<p>{{ count }} runs</p>", ["runs"]),
        ('<p>{% translate "Runs" %}</p>', []),
        ("<p>{% blocktranslate %}{{ n }} runs{% endblocktranslate %}</p>", []),
        ('<p>{{ name|default:"All runs" }}</p>', ['"All runs"']),
        ('<p>{{ name|default:_("All runs") }}</p>', []),
        ('{% include "a.html" with label="Two words" %}', ['"Two words"']),
        ('<a href="{% url \'runs\' %}" title="Open it">·</a>', ['title="Open it"']),
        ("<code>pip install</code><kbd>Ctrl K</kbd> Seamark", []),
    ],
)
def test_what_is_not_marked_is_found(template, found):
    assert unmarked_texts(template) == found


def test_every_text_of_a_script_is_marked():
    scripts = sorted(SCRIPTS.rglob("*.js"))
    found = {path.name: unmarked_strings(path.read_text()) for path in scripts}

    assert found
    assert {name: texts for name, texts in found.items() if texts} == {}


@pytest.mark.parametrize(
    ("script", "found"),
    [
        ('toast("Done")', ["Done"]),
        ('toast(gettext("Done"))', []),
        ('say(text || "Nothing came of it")', ["Nothing came of it"]),
        ("setText(this.part('count'), `${of(`${a}`)} runs`)", ["% runs"]),
        ('setText(part, isOne ? gettext("One") : "Many")', ["Many"]),
        ("`${shown} of ${all}`", ["% of %"]),
        ('element.title = isOpen ? "Close" : "Open"', ["Close", "Open"]),
        ('made("p", "muted", "Loading …")', ["Loading …"]),
        ('made("p", "muted small", gettext("Loading …"))', []),
        ('ngettext("%(count)s run", "%(count)s runs", count, { count: number(count) })', []),
        ('/["\']/.test(text) // it says "One is not", so', []),
        ('throw new Error("the answer is not a figure")', []),
        ('event.key === "Enter"; at("/runs/of/all")', []),
    ],
)  # fmt: skip
def test_what_a_script_does_not_mark_is_found(script, found):
    assert unmarked_strings(script) == found
