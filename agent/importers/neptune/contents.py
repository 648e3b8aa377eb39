"""Detects the type of files that were exported without an extension (pure)."""

from __future__ import annotations

import codecs

# Signatures at an offset, with the extension of their type.
_SIGNATURES = (
    (0, b"\x89PNG\r\n\x1a\n", ".png"),
    (0, b"\xff\xd8\xff", ".jpg"),
    (0, b"GIF8", ".gif"),
    (8, b"WEBP", ".webp"),
    (8, b"WAVE", ".wav"),
    (0, b"ID3", ".mp3"),
    (4, b"ftyp", ".mp4"),
    (0, b"\x1aE\xdf\xa3", ".webm"),
    (0, b"%PDF", ".pdf"),
    (0, b"PK\x03\x04", ".zip"),
    (0, b"PAR1", ".parquet"),
)
_TEXTS = ((b"<!doctype html", ".html"), (b"<html", ".html"), (b"<svg", ".svg"))
PICTURES = frozenset({".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".svg"})
SOUNDS = frozenset({".wav", ".mp3", ".ogg", ".flac"})
VIDEOS = frozenset({".mp4", ".webm"})
HEAD_BYTES = 512


def extension_of(head: bytes) -> str:
    """Return the extension for a file that begins with these bytes; "" if unknown."""
    for offset, signature, extension in _SIGNATURES:
        if head[offset:].startswith(signature):
            return extension
    begun = head.lstrip().lower()
    for start, extension in _TEXTS:
        if begun.startswith(start):
            return extension
    if not head or b"\0" in head:
        return ""
    try:
        # Incremental, because the last character may be cut.
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return ""
    return ".json" if begun[:1] in (b"{", b"[") else ".txt"
