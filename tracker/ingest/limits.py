"""How much one request, one message and one run may hold; see docs/protocol.md."""

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
    # Series that are logged again, each with the step from which on: in a batch, of a
    # run, where each attempt adds its own, and how often the same one is, as whoever
    # reads it reads them all.
    rewinds: int = 100_000
    run_rewinds: int = 1_000_000
    series_rewinds: int = 1_000
    # Of a message; each is an answer of its own, and a few bytes could make very many.
    bad_paths: int = 1_000
    path_characters: int = 1_024
    # With a short text beside it, what an entry of PostgreSQL's indexes can hold.
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
    # Of one part of a file.
    part_bytes: int = 16 * MIB


LIMITS = Limits()
