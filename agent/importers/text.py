"""Reads lines of a log in any encoding.

PowerShell redirects as UTF-16 with a BOM, editors add a BOM to UTF-8, and a killed
terminal leaves an incomplete line.
"""

from __future__ import annotations

import codecs
import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

from seamark.importers.problems import Problems

LONGEST_LINE = 1 << 20  # characters; longer lines are not log lines
_CHUNK_BYTES = 1 << 20
_GZIP = b"\x1f\x8b"
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def open_log(path: Path) -> BinaryIO:
    """Open a file, decompressing it if needed."""
    with path.open("rb") as file:
        is_compressed = file.read(2) == _GZIP
    if is_compressed:
        return cast("BinaryIO", gzip.GzipFile(path))
    return path.open("rb")


def lines_of(
    file: BinaryIO, problems: Problems, longest: int = LONGEST_LINE
) -> Iterator[str]:
    """Yield lines without line ends; undecodable bytes are replaced.

    A line of more than `longest` characters is reported and empty. A truncated or damaged
    compressed file ends there.
    """
    count = 0
    data = _read(file, problems, count)
    decode = codecs.getincrementaldecoder(encoding_of(data))("replace").decode
    begun = ""
    while data:
        # Not splitlines: text in JSON may contain other line separators.
        rest, *others = decode(data).split("\n")
        # The rest of a longer line is dropped.
        begun += rest if len(begun) <= longest else ""
        for text in others:
            count += 1
            yield _line(begun, problems, count, longest)
            begun = text
        data = _read(file, problems, count)
    begun += decode(b"", True)
    if begun:
        yield _line(begun, problems, count + 1, longest)


def _line(text: str, problems: Problems, number: int, longest: int) -> str:
    if len(text) > longest:
        problems.add(f"it is longer than {longest:,} characters", number)
        return ""
    return text.rstrip("\r\0")


def encoding_of(data: bytes) -> str:
    """Detect the encoding from the beginning of a text."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return encoding
    # In UTF-16 without a BOM, every other byte of ASCII text is 0.
    head = data[:200]
    if head[1::2].count(0) > len(head) // 4:
        return "utf-16-le"
    if head[::2].count(0) > len(head) // 4:
        return "utf-16-be"
    return "utf-8"


def _read(file: BinaryIO, problems: Problems, line: int) -> bytes:
    try:
        return file.read(_CHUNK_BYTES)
    except (EOFError, gzip.BadGzipFile, zlib.error):
        problems.add("the compressed file is truncated or damaged after it", line)
        return b""
