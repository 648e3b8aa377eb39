"""Recognizes sounds and videos by their first bytes (pure)."""

from __future__ import annotations

HEAD_BYTES = 64
AUDIO, VIDEO = "audio/", "video/"
EBML = b"\x1a\x45\xdf\xa3"
MPEG_AUDIO = (b"ID3", b"\xff\xfb", b"\xff\xf3", b"\xff\xf2")
MP4_AUDIO = (b"M4A ", b"M4B ")


def read_recording(head: bytes) -> str | None:
    """Return the media type of a sound or video that browsers play; None for others."""
    if head.startswith(b"RIFF") and head[8:12] == b"WAVE":
        return "audio/wav"
    if head.startswith(MPEG_AUDIO):
        return "audio/mpeg"
    if head.startswith(b"OggS"):
        return "audio/ogg"
    if head.startswith(b"fLaC"):
        return "audio/flac"
    if head[4:8] == b"ftyp":
        return "audio/mp4" if head[8:12] in MP4_AUDIO else "video/mp4"
    return "video/webm" if head.startswith(EBML) else None
