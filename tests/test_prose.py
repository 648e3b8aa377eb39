"""Prose of code, pages and docs uses few words that plain English rarely needs."""

from __future__ import annotations

import pytest

from tests.prose import counts_of

# Per 1,000 words; riddles are sentences that begin with Of, What, Who or That, in %.
LIMITS = {
    "pages": (0.6, 0.1, 0.6, 0.6),
    "docs": (0.9, 0.15, 0.5, 0.3),
    "code": (0.75, 0.12, 0.35, 0.3),
    "browser": (0.3, 0.1, 0.2, 0.2),
}


@pytest.mark.parametrize("kind", LIMITS)
def test_words_that_plain_english_rarely_needs_are_rare(kind):
    rates = counts_of(kind).rates()

    limits = dict(zip(rates, LIMITS[kind], strict=True))
    too_many = {name: rate for name, rate in rates.items() if rate > limits[name]}
    assert too_many == {}
