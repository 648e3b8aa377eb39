"""Limits of a request, a message and a run; see docs/protocol.md."""

from __future__ import annotations

from dataclasses import dataclass

from tracker.records.histogram import MAX_BINS

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Limits:
    body_bytes: int = 16 * MIB
    unpacked_bytes: int = 20 * MIB
    frame_bytes: int = 4 * MIB
    messages: int = 100_000
    points: int = 1_000_000
    records: int = 1_000_000
    # Rewound series per batch, per run, where each attempt adds its own, and per
    # series, because readers load all rewinds of a series.
    rewinds: int = 100_000
    run_rewinds: int = 1_000_000
    series_rewinds: int = 1_000
    # Per message; each is reported individually, and a few bytes could cause very many.
    bad_paths: int = 1_000
    path_characters: int = 1_024
    # With a short text next to it, the maximum size of a PostgreSQL index entry.
    path_bytes: int = 2_048
    project_characters: int = 200
    run_characters: int = 255
    stage_characters: int = 100
    host_characters: int = 255
    agent_characters: int = 50
    file_name_characters: int = 255
    media_type_characters: int = 100
    string_characters: int = 65_536
    record_characters: int = 65_536
    histogram_bins: int = MAX_BINS
    set_strings: int = 1_000
    set_string_characters: int = 1_024
    attributes: int = 100_000
    # Per part of a file.
    part_bytes: int = 16 * MIB


LIMITS = Limits()
