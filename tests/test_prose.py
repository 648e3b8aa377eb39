"""Prose stays plain: pages and docs now, comments not worse than they are."""

from __future__ import annotations

import pytest

from tests.prose import counts_of

# Per 1,000 words; riddles are sentences that begin with Of, What, Who or That, in %.
LIMITS = {
    "pages": (1.5, 0.2, 0.8, 1.0),
    "docs": (1.5, 0.2, 0.8, 1.0),
    # Lower these with each rewritten folder, down to the limits of pages.
    "code": (21.1, 3.7, 7.8, 6.2),
}


@pytest.mark.parametrize("kind", LIMITS)
def test_words_that_plain_english_rarely_needs_are_rare(kind):
    rates = counts_of(kind).rates()

    limits = dict(zip(rates, LIMITS[kind], strict=True))
    too_many = {name: rate for name, rate in rates.items() if rate > limits[name]}
    assert too_many == {}
