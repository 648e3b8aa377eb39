"""Finds texts in a script that are shown but not marked for translation.

It parses only string literals. A string counts as a text if it reads like a part of a
sentence, or contains a word and is passed to a function that shows texts.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

# Placeholders for a value within a string, and for a string within code.
VALUE, STRING = "%", "''"
# Characters of code in which a call begins that a string is given to.
LOOKED_BACK = 300
# Code before the slash of a regular expression.
BEFORE_EXPRESSION = re.compile(r"(?:[(,=:\[!&|?{};]|\breturn|^)\s*$")
EXPRESSION = re.compile(r"/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n\[])+/")
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
PLAIN = re.compile(r""""(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'""")
# Inside the call that marks a text, or in a message for developers.
MARKED = re.compile(r"\b(?:n?gettext|Error)\((?:[^()]|\([^()]*\))*$")
SHOWN = re.compile(
    r"(?:\btoast\(|\bsetText\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*,|\bmade\('', '',"
    r"|\.(?:textContent|title|ariaLabel|placeholder)\s*=(?!=))\s*(?:[^;\n]*[?:|]\s*)?$"
)
WORD = re.compile(r"[A-Za-z]{2,}")
SENTENCE = re.compile(
    r"^[A-Z][a-z]+,? [A-Za-z]|^[A-Z]?[a-z]+ [a-z]+ [a-z]+|% [a-z]+ [%a-z]|[a-z] ?…$"
)
# Names, paths, keys and roles, and words of languages that machines read.
OTHERS = re.compile(
    r"__|--|^\w+/\w+$|^Shift [A-Z]|^% / span %$|^% is nan$|^xM|^% UTC$|^2-digit$|^left its axes$"
    r"|^(?:checkbox|row|gridcell)$"
)


def unmarked_strings(script: str) -> list[str]:
    """Return the strings of a script that people see and that no call marks.

    >>> unmarked_strings('setText(part, `${count} runs`); toast(gettext("Done"))')
    ['% runs']
    """
    return [
        text
        for before, text in _Strings(script).read()
        if not MARKED.search(before) and _is_seen(before, text)
    ]


def _is_seen(before: str, text: str) -> bool:
    if OTHERS.search(text):
        return False
    is_shown = SHOWN.search(before) and WORD.search(text)
    return bool(is_shown or SENTENCE.search(text))


@dataclass
class _Strings:
    """Reads a script once, and yields each string with the code before it."""

    script: str
    place: int = 0
    code: str = ""
    found: list[tuple[str, str]] = field(default_factory=list)

    def read(self) -> list[tuple[str, str]]:
        while self.place < len(self.script):
            self._read_one()
        return self.found

    def _read_one(self) -> None:
        character = self.script[self.place]
        if comment := COMMENT.match(self.script, self.place):
            self.place = comment.end()
        elif string := PLAIN.match(self.script, self.place):
            self._note(self.code, string[0][1:-1], string.end())
        elif character == "`":
            self._read_template()
        elif character == "/" and (end := self._end_of_expression()):
            self._note(self.code, "", end)
        else:
            self.code += character
            self.place += 1

    def _read_template(self) -> None:
        before, text = self.code, ""
        self.place += 1
        while (character := self.script[self.place]) != "`":
            if self.script.startswith("${", self.place):
                self._read_value()
                text += VALUE
            else:
                text += character
                self.place += 1
        self._note(before, text, self.place + 1)

    def _read_value(self) -> None:
        """Read to the brace that closes a value; its content is code."""
        self.place += 2
        self.code += "("
        depth = 1
        while depth:
            depth += {"{": 1, "}": -1}.get(self.script[self.place], 0)
            if depth:
                self._read_one()
        self.code += ")"
        self.place += 1

    def _end_of_expression(self) -> int:
        if not BEFORE_EXPRESSION.search(self.code[-20:]):
            return 0
        found = EXPRESSION.match(self.script, self.place)
        return found.end() if found else 0

    def _note(self, before: str, text: str, end: int) -> None:
        self.found.append((before[-LOOKED_BACK:], text))
        self.code = before + STRING
        self.place = end
