"""Lines of a log, whatever encoding the shell that wrote it chose.

PowerShell redirects in UTF-16 with a mark, editors put marks before UTF-8, and a
terminal that was killed leaves half a line.
"""

from __future__ import annotations

import codecs
import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

from seamark.importers.noted import Noted

LONGEST_LINE = 1 << 20  # characters; beyond, it is no line of a log
_CHUNK_BYTES = 1 << 20
_GZIP = b"\x1f\x8b"
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def open_log(path: Path) -> BinaryIO:
    """Open a file, or what it holds in compressed form."""
    with path.open("rb") as file:
        is_compressed = file.read(2) == _GZIP
    if is_compressed:
        return cast("BinaryIO", gzip.GzipFile(path))
    return path.open("rb")


def lines_of(
    file: BinaryIO, noted: Noted, longest: int = LONGEST_LINE
) -> Iterator[str]:
    """Yield lines without their ends; what cannot be decoded becomes a mark.

    One of more than `longest` characters is noted, and empty. A compressed file that
    is cut off or damaged ends where it does.
    """
    count = 0
    data = _read(file, noted, count)
    decode = codecs.getincrementaldecoder(encoding_of(data))("replace").decode
    begun = ""
    while data:
        # Not splitlines: a text in JSON may hold what that takes for an end.
        rest, *others = decode(data).split("\n")
        # Beyond, nothing is kept of a line, however long it goes on.
        begun += rest if len(begun) <= longest else ""
        for text in others:
            count += 1
            yield _line(begun, noted, count, longest)
            begun = text
        data = _read(file, noted, count)
    begun += decode(b"", True)
    if begun:
        yield _line(begun, noted, count + 1, longest)


def _line(text: str, noted: Noted, number: int, longest: int) -> str:
    if len(text) > longest:
        noted.add(f"it is longer than {longest:,} characters", number)
        return ""
    return text.rstrip("\r\0")


def encoding_of(data: bytes) -> str:
    """Return which encoding a text has that begins so."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return encoding
    # Of ASCII in UTF-16 without a mark, every other byte is 0.
    head = data[:200]
    if head[1::2].count(0) > len(head) // 4:
        return "utf-16-le"
    if head[::2].count(0) > len(head) // 4:
        return "utf-16-be"
    return "utf-8"


def _read(file: BinaryIO, noted: Noted, line: int) -> bytes:
    try:
        return file.read(_CHUNK_BYTES)
    except (EOFError, gzip.BadGzipFile, zlib.error):
        noted.add("the compressed file is cut off or damaged behind it", line)
        return b""
