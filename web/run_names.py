"""Names of runs in little room: what the names of a sweep share is cut first.

The names are compared token by token, as `static/web/js/core/run_names.js` does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import groupby

# The dash of an exponent, as in 1e-4, separates nothing.
TOKENS = re.compile(r"(?:(?<=\d)[eE]-(?=\d)|[^-_/\s,;:=])+[-_/\s,;:=]*|[-_/\s,;:=]+")
# Cutting less than this saves no room.
SHORTEST_CUT = 5
# The end that stays of a name that is like no other.
END = 14

# A text, and whether it may be cut.
Part = tuple[str, bool]


class RunNames:
    """Names that are shown together."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        # By number of tokens and first token: each token, or None where they differ.
        self._shapes: dict[tuple[int, str], list[str | None]] = {}
        # By first token: those of all names, of whatever number.
        self._of_all: dict[str, set[str]] = {}
        for name in dict.fromkeys(names):
            tokens = TOKENS.findall(name)
            shape = self._shapes.setdefault(_key(tokens), list(tokens))
            of_all = self._of_all.setdefault(_key(tokens)[1], set(tokens))
            of_all &= set(tokens)
            for place, token in enumerate(tokens):
                if shape[place] != token:
                    shape[place] = None

    def parts(self, name: str) -> list[Part]:
        """Return the parts of a name in their order; together they are the name."""
        tokens = TOKENS.findall(name)
        shape = self._shapes.get(_key(tokens), list(tokens))
        of_all = self._of_all.get(_key(tokens)[1], set(tokens))
        shared = [
            shape[place] == token and token in of_all
            for place, token in enumerate(tokens)
        ]
        if all(shared):
            if len(name) < END + SHORTEST_CUT:
                return [(name, False)]
            return [(name[:-END], True), (name[-END:], False)]
        pairs = groupby(zip(tokens, shared, strict=True), key=lambda pair: pair[1])
        found = [("".join(token for token, _ in group), cut) for cut, group in pairs]
        text, is_shared = found[-1]
        if not is_shared and text != tokens[-1]:
            # The end, such as a seed, is kept before other parts.
            found[-1:] = [(text.removesuffix(tokens[-1]), False), (tokens[-1], False)]
        return [(text, cut and len(text) >= SHORTEST_CUT) for text, cut in found]


def _key(tokens: list[str]) -> tuple[int, str]:
    return len(tokens), tokens[0] if tokens else ""
