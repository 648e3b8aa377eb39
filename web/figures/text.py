"""Names for Plotly, shown literally. Plotly parses texts as simple HTML, and names are
untrusted.
"""

from __future__ import annotations

ENTITIES = str.maketrans(
    {
        "&": "&amp;",
        "<": "&lt;",
        ">": "&gt;",
        # Control characters have pictures; XML cannot carry the characters.
        **{chr(code): chr(0x2400 + code) for code in range(0x20)},
        "\x7f": "\u2421",
        # These would turn the text around them.
        **dict.fromkeys("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069", "�"),
    }
)
LONGEST = 80
# Maximum length of each of two joined names.
LONGEST_OF_TWO = 44


def literal(name: str, *, longest: int = LONGEST) -> str:
    """Return text that Plotly draws as `name`; the middle of a long one is left out."""
    return shortened(name, longest).translate(ENTITIES)


def shortened(name: str, longest: int) -> str:
    """Keep both ends: paths differ at their end, runs at their beginning."""
    if len(name) <= longest:
        return name
    tail = (longest - 1) // 2
    return f"{name[: longest - 1 - tail]}…{name[-tail:]}"


def of_run(run: str, path: str) -> str:
    """Name a line by its run, its series, or both; a shared part is ""."""
    names = [shortened(name, LONGEST_OF_TWO) for name in (run, path) if name]
    return " · ".join(names)
