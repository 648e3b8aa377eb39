"""In a language with every text in brackets, text outside of brackets is data.

This finds unmarked texts of any source. Texts of templates that are not marked yet are
known to test_texts.py and skipped here; without any, all texts must be in brackets.
"""

from __future__ import annotations

import re
from functools import cache
from html.parser import HTMLParser
from pprint import pformat
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth import get_user_model
from django.db.models import QuerySet

from tests.tracker_texts import tracker_texts
from tests.web.every_page import make_empty, make_full, pages
from tests.web.languages import CLOSING, MADE_UP, OPENING, brackets
from tests.web.test_texts import (
    LITERAL,
    MARKED,
    NAME,
    SPOKEN,
    TAG,
    TEMPLATES,
    UNSEEN,
    VERBATIM,
)

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.slow,
    pytest.mark.timeout(600),
]

WORLDS = {"empty": make_empty, "full": make_full}
SPEAKS = {"accept-language": MADE_UP}
# Swagger's page, and the tracker's texts of a rule.
NOT_OURS = {"api", "rule", "rule-settings?open=data-wait-dominates"}
GAP = "\0"
# Separators that pages put between values.
PARTS = re.compile(f"{GAP}|; |: |, | · ")
MIN_SPACES = 2
# Words of the tracker's that the pages begin with a capital, and beginnings of secrets
# and of digests.
ALSO_DATA = re.compile(
    r"Running|Finished|Failed|Crashed|Preempted|sm[a-z]_\S+|[\d.]+× (faster|slower).*"
    r"|[<>]? ?[\d.]+ (cores|processes)|([a-z ]+ [\d.]+( %)?(, )?)+"
    r"|\w+ =.*|fals|string set|\w+ → \w+|\w+\.\w+, \d+ B|.*n{20,}…?|[0-9a-f]{12}…",
    re.DOTALL,
)
EDGES = " ·,;:.?()×–→%“”\u2068\u2069\"'"
INNERMOST = re.compile(f"{OPENING}[^{OPENING}{CLOSING}]*{CLOSING}")
LETTERS = re.compile(r"[^\W\d_]{2,}")
# Numbers with units, keys, and separators.
UNITS = re.compile(
    r"(?<![^\W_])(?:ms|min|GPU-h|kWh|[KMGTP]iB|GPU|CPU|API|UTC|NaN|MHz|XID|PCIe|NVLink"
    r"|JSON|Ctrl|Esc|Enter|Alt|Shift|EUR|USD|Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct"
    r"|Nov|Dec)(?![^\W_])"
)


def outside(text: str) -> str:
    """Return a text without its bracketed parts."""
    while (shorter := INNERMOST.sub("", text)) != text:
        text = shorter
    return text


class Seen(HTMLParser):
    """Collects the texts and the spoken attributes of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.verbatim: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in VERBATIM or tag == "textarea":
            self.verbatim.append(tag)
        self.texts += [value for name, value in attrs if name in SPOKEN and value]

    def handle_endtag(self, tag: str) -> None:
        if self.verbatim and self.verbatim[-1] == tag:
            self.verbatim.pop()

    def handle_data(self, data: str) -> None:
        if not self.verbatim:
            self.texts.append(data)


def texts_of(page: str) -> list[str]:
    seen = Seen()
    # A bracket may open before an element and close behind it.
    seen.feed(outside(page))
    seen.close()
    return [" ".join(text.split()) for text in seen.texts]


@cache
def unmarked() -> list[str]:
    """Return the texts of templates that are not marked yet, the longest first."""
    found: set[str] = set()
    for path in TEMPLATES.rglob("*.html"):
        template = MARKED.sub(GAP, UNSEEN.sub("", path.read_text()))
        found |= set(LITERAL.findall(" ".join(TAG.findall(template))))
        seen = Seen()
        seen.feed(TAG.sub(GAP, template))
        seen.close()
        found |= {part for text in seen.texts for part in text.split(GAP)}
    return sorted(filter(LETTERS.search, map(bare, found)), key=len, reverse=True)


def stored() -> set[str]:
    """Return all texts in the database that a user or a rule wrote."""
    found: set[str] = set()
    for model in apps.get_app_config("tracker").get_models():
        for row in QuerySet(model).values_list():
            for value in row:
                found |= set(_texts_in(value))
    for user in get_user_model().objects.all():
        found |= {user.display_name, user.initials}
    # Paths of metrics are shown as words.
    return found | {text.replace("_", " ") for text in found}


def _texts_in(value: Any) -> list[str]:
    if isinstance(value, str):
        return [" ".join(value.split())]
    if isinstance(value, dict):
        return [
            text for pair in value.items() for each in pair for text in _texts_in(each)
        ]
    if isinstance(value, list | tuple):
        return [text for each in value for text in _texts_in(each)]
    return []


def is_data(text: str, written: str) -> bool:
    if not LETTERS.search(UNITS.sub("", text.replace(NAME, ""))) or text in written:
        return True
    if ALSO_DATA.fullmatch(text):
        return True
    plain, patterns = tracker_texts()
    if text in plain or any(pattern.fullmatch(text) for pattern in patterns):
        return True
    # A part of a rule's text.
    return text.count(" ") >= MIN_SPACES and any(text in each for each in plain)


def is_told(text: str, written: str) -> bool:
    """Return whether a text is in brackets, data, or of an unmarked template."""
    rest = bare(outside(text))
    if is_data(rest, written):
        return True
    for known in unmarked():
        rest = rest.replace(known, GAP)
    return all(is_data(bare(part), written) for part in PARTS.split(rest))


def bare(text: str) -> str:
    return " ".join(text.split()).strip(EDGES)


@pytest.mark.parametrize("world", WORLDS)
def test_what_is_not_data_is_told_in_the_language(
    world, member, client_of, settings, tmp_path
):
    settings.DATA_FOLDER = tmp_path
    things = WORLDS[world](member)
    addresses = pages(things, client_of(member))
    written = "\n".join(stored())

    found: dict[str, list[str]] = {}
    with brackets():
        client = client_of(member)
        for name, address in addresses.items():
            page = client.get(address, headers=SPEAKS).content.decode()
            found[name] = texts_of(page)
    # Most stand on every page.
    is_covered = {
        text: is_told(text, written) for texts in found.values() for text in set(texts)
    }
    untold = {
        name: [text for text in dict.fromkeys(texts) if not is_covered[text]]
        for name, texts in found.items()
    }

    untold = {name: texts for name, texts in untold.items() if texts}
    assert not untold.keys() - NOT_OURS, pformat(untold, width=150)


@pytest.mark.parametrize(
    ("text", "is_good"),
    [
        (f"{OPENING}3 of {OPENING}4 runs{CLOSING}{CLOSING} · 12 ms", True),
        ("what somebody wrote", True),
        ("Frobnicate", False),
        (f"{OPENING}All{CLOSING} frobnicated", False),
    ],
)
def test_what_is_outside_of_brackets_is_seen(text, is_good):
    assert is_told(text, "what somebody wrote") == is_good
