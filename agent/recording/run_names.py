"""Generates names for unnamed runs."""

from __future__ import annotations

import os

_ADJECTIVES = """
amber azure brisk calm clear coral distant early fair fresh golden grand keen light
lucid northern open pearl quick quiet silver southern steady still swift tidal true
vivid warm wide
"""
_NOUNS = """
anchor atoll bay beacon breeze buoy cape channel coast cove current delta dune estuary
fjord gull harbour island jetty lagoon lantern meridian pier reef sail shoal sound
strait tide wave
"""


def readable_name() -> str:
    """Return a new name, such as `quiet-harbour-3f2a91`.

    Uses the system's randomness: the training's seed must neither change nor give two
    runs the same name.
    """
    return f"{_any_of(_ADJECTIVES)}-{_any_of(_NOUNS)}-{random_text()}"


def random_text() -> str:
    """Return six random characters, such as `3f2a91`, to make a name unique."""
    return os.urandom(3).hex()


def _any_of(words: str) -> str:
    choices = words.split()
    return choices[os.urandom(1)[0] % len(choices)]
