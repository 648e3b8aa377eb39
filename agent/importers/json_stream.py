"""Reads a JSON object with one long array piece by piece, in bounded memory.

Reading ends at truncated or damaged text: the values before it are yielded, and
`damage` is its position.
"""

from __future__ import annotations

import codecs
import json
import re
import zlib
from collections.abc import Iterator
from typing import Any, BinaryIO

_CHUNK_BYTES = 1 << 20
# No valid value is this large.
MAX_CHARACTERS = 16 << 20
_BLANK = re.compile(r"[\s,]*")
_SPACE = re.compile(r"\s*")
# A long array is read value by value from here on.
_DEEPEST = 100


class Damaged(Exception):
    """The text is truncated or not valid JSON."""


class JsonStream:
    """The members of one object, and the values of its array `name`."""

    def __init__(self, file: BinaryIO, name: str) -> None:
        self._file = file
        self._name = name
        self._decode = json.JSONDecoder(strict=False).raw_decode
        # Invalid UTF-8 is replaced; names of kernels may contain anything.
        self._to_text = codecs.getincrementaldecoder("utf-8-sig")("replace").decode
        self._text = ""
        self._place = 0
        self._is_over = False
        self._passed = 0  # characters
        # Members of the object except the array.
        self.members: dict[str, Any] = {}
        self.damage = ""

    # Any: untrusted JSON.
    def items(self) -> Iterator[Any]:
        """Yield the array's values; also accepts an array without an object around it."""
        try:
            if self._next_character() == "[":
                yield from self._array()
            else:
                yield from self._object()
        except Damaged as damaged:
            at = self._passed + self._place
            self.damage = f"at character {at:,}: {damaged}"

    def _object(self) -> Iterator[Any]:
        if self._next_character() != "{":
            raise Damaged("it does not begin with { or [")
        self._place += 1
        while True:
            character = self._next_character(_BLANK)
            if character == "}":
                self._place += 1
                return
            if character != '"':
                raise Damaged("a name is missing")
            name = self._value()
            if self._next_character() != ":":
                raise Damaged("a colon is missing")
            self._place += 1
            if name == self._name and self._next_character() == "[":
                yield from self._array()
            else:
                self.members[str(name)] = self._value()

    def _array(self) -> Iterator[Any]:
        self._place += 1
        while True:
            if self._next_character(_BLANK) == "]":
                self._place += 1
                return
            yield self._value()

    def _next_character(self, skipped: re.Pattern[str] = _SPACE) -> str:
        """Return the next character that is not skipped."""
        while True:
            match = skipped.match(self._text, self._place)
            self._place = match.end() if match else self._place
            if self._place < len(self._text):
                return self._text[self._place]
            if not self._read_on():
                raise Damaged("the end is missing")

    # Any: as above.
    def _value(self) -> Any:
        """Read one value, or raise Damaged."""
        self._next_character()
        while True:
            try:
                value, end = self._decode(self._text, self._place)
                is_cut = end == len(self._text) and not self._is_over
            except RecursionError:
                raise Damaged("it is nested too deeply") from None
            except (ValueError, OverflowError) as error:
                # It may continue in the unread part.
                if self._is_over or len(self._text) - self._place > MAX_CHARACTERS:
                    raise Damaged(_reason(error)) from None
                is_cut, value, end = True, None, 0
            if not is_cut:
                self._place = end
                return value
            self._read_on()

    def _read_on(self) -> bool:
        """Read more, and drop the parsed part; False at the end."""
        if self._is_over:
            return False
        try:
            data = self._file.read(_CHUNK_BYTES)
        except (OSError, EOFError, zlib.error) as error:
            # A compressed file that is truncated or invalid.
            raise Damaged(_reason(error)) from None
        self._is_over = not data
        self._passed += self._place
        self._text = self._text[self._place :] + self._to_text(data, not data)
        self._place = 0
        return True


def _reason(error: Exception) -> str:
    text = getattr(error, "msg", "") or str(error) or type(error).__name__
    return text[:_DEEPEST]
