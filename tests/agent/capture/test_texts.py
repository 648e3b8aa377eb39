"""Long texts lose secrets and are cut: no half of one is left at a cut."""

from __future__ import annotations

import pytest

from seamark.capture import texts
from seamark.capture.texts import cut, redacted_beginning, redacted_end
from seamark.lifecycle import process_hooks
from seamark.redaction import Redactor
from tests.agent.planted import SECRETS

LONGEST = 2_000
KNOWN = "q" * 40 + "correct horse battery staple" * 20
WORDS = "some words\n" * 1_000
# Long, and short after redaction.
KEY = "-----BEGIN PRIVATE KEY-----\n" + "k3y\n" * 800 + "-----END PRIVATE KEY-----\n"
PLANTED = {**SECRETS, "known": (f"it is {KNOWN}", KNOWN)}


def without_known(text):
    return Redactor([KNOWN])(text)


def pieces(secret):
    return {secret[at : at + 8] for at in range(len(secret) - 7)}


@pytest.fixture(autouse=True)
def edge(monkeypatch):
    """Set an edge that is wide enough for the planted secrets."""
    monkeypatch.setattr(texts, "_EDGE", 700)


@pytest.mark.parametrize("other", ["", KEY])
@pytest.mark.parametrize("name", PLANTED)
def test_of_a_secret_that_a_cut_divides_nothing_is_left(name, other):
    text, secret = PLANTED[name]
    looked_at = 2 * LONGEST + texts._EDGE
    for inside in range(1, len(text), 3):
        before = (other + WORDS)[: looked_at - inside]
        behind = (WORDS + other)[inside - looked_at :]
        start = redacted_beginning(
            before + text + " and on" * 900, without_known, LONGEST
        )
        end = redacted_end("on and " * 900 + text + behind, without_known, LONGEST)

        assert "some words" in start
        assert "some words" in end
        assert not [p for p in pieces(secret) if p in start or p in end]


def test_what_is_left_is_the_beginning_and_says_how_much_is_missing():
    text = "".join(f"line {number:05}\n" for number in range(1_000))

    shown = redacted_beginning(text, without_known, LONGEST)

    kept, _, mark = shown.partition("\n…")
    assert text.startswith(kept)
    assert LONGEST - 80 <= len(shown) <= LONGEST
    assert f" {len(text) - len(kept):,} more" in mark
    assert shown == cut(text, LONGEST)


def test_the_end_of_a_text_is_what_is_left():
    text = "".join(f"line {number:05}\n" for number in range(1_000))

    assert redacted_end(text, without_known, LONGEST) == text[-LONGEST:]
    assert redacted_end("short", without_known, LONGEST) == "short"


@pytest.mark.parametrize("length", [1, 1_999, 2_000, 2_001, 4_000, 4_699, 4_700, 4_701])
def test_a_text_of_any_length_is_cut_as_one_without_secrets_is(length):
    text = "x y" * length
    text = text[:length]

    assert redacted_beginning(text, without_known, LONGEST) == cut(text, LONGEST)
    assert redacted_end(text, without_known, LONGEST) == text[-LONGEST:]


def test_of_a_huge_text_a_small_part_is_looked_at(monkeypatch):
    looked_at = []

    def redact(text):
        looked_at.append(len(text))
        return text

    redacted_beginning("x" * 10_000_000, redact, LONGEST)
    redacted_end("x" * 10_000_000, redact, LONGEST)
    monkeypatch.setattr(process_hooks, "without_secrets", redact)
    process_hooks.described("x" * 10_000_000)

    assert max(looked_at) < 50_000
