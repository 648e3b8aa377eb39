"""Formats numbers for the sentences of findings."""

from __future__ import annotations

MINUTE = 60
HOUR = 3600

KIBI = 1024
A_TENTH = 0.1
HUNDREDS, MANY = 100, 100_000

ORDINALS = {1: "st", 2: "nd", 3: "rd"}
TEENS = {11, 12, 13}

SIZES = ("B", "KiB", "MiB", "GiB", "TiB")


def percent(share: float) -> str:
    return f"{share * 100:.0f} %"


def small_percent(share: float) -> str:
    """Format a share with more precision if it is small."""
    return f"{share * 100:.2g} %" if abs(share) < A_TENTH else percent(share)


def rounded(value: float) -> str:
    """Format a value with three digits, without an exponent for hundreds."""
    return f"{value:.0f}" if HUNDREDS <= abs(value) < MANY else f"{value:.3g}"


def duration(seconds: float) -> str:
    if seconds < 1:
        return f"{rounded(seconds * 1000)} ms"
    if seconds < 2 * MINUTE:
        return f"{seconds:.3g} s"
    if seconds < 2 * HOUR:
        return f"{seconds / MINUTE:.0f} min"
    return f"{seconds / HOUR:.1f} h"


def size(size_bytes: float) -> str:
    power = 0
    while size_bytes >= KIBI and power < len(SIZES) - 1:
        size_bytes /= KIBI
        power += 1
    return f"{rounded(size_bytes)} {SIZES[power]}"


def cores(count: float) -> str:
    return "1 core" if f"{count:.2g}" == "1" else f"{count:.2g} cores"


def ordinal(number: float) -> str:
    """Format an ordinal number: 1st, 2nd, 572nd, 1,011th; 97.5th."""
    text = f"{number:,.15g}"
    if "." in text or int(number) % 100 in TEENS:
        return f"{text}th"
    return f"{text}{ORDINALS.get(int(number) % 10, 'th')}"


def count(number: float, one: str, many: str) -> str:
    return f"{number:g} {one if number == 1 else many}"
