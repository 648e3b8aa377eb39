"""Decoding of log lines in various encodings."""

from __future__ import annotations

import gzip
import io
import tracemalloc

import pytest

from seamark.importers import text as module
from seamark.importers.problems import Problems
from seamark.importers.text import lines_of, open_log

LINES = ["timestamp, index", "2026/08/12 10:00:00.000, 0", "ä"]


def read(data):
    return list(lines_of(io.BytesIO(data), Problems()))


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"]
)
@pytest.mark.parametrize("at_once", [7, 1 << 20])
def test_every_usual_encoding_is_recognized(monkeypatch, encoding, end, at_once):
    if at_once > len(LINES[0]) or "16" not in encoding:
        monkeypatch.setattr(module, "_CHUNK_BYTES", at_once)

    assert read(end.join(LINES).encode(encoding)) == LINES


def test_a_last_line_without_an_end_is_a_line():
    assert read(b"a\nb") == ["a", "b"]
    assert read(b"a\n") == ["a"]
    assert read(b"") == []


def test_only_the_end_of_a_line_ends_it():
    assert read("a\u2028b\x0cc\n".encode()) == ["a\u2028b\x0cc"]


def test_what_cannot_be_decoded_is_marked():
    assert read(b"a\xffb\n\x80") == ["a\ufffdb", "\ufffd"]


def test_a_line_that_is_too_long_is_noted_and_its_number_kept(monkeypatch):
    monkeypatch.setattr(module, "_CHUNK_BYTES", 50)
    problems = Problems()
    data = b"a\n" + b"x" * 101 + b"\n" + b"y" * 100 + b"\n" + b"z" * 10_000

    found = list(lines_of(io.BytesIO(data), problems, longest=100))

    assert found == ["a", "", "y" * 100, ""]
    assert problems.sentences() == ["lines 2, 4: it is longer than 100 characters"]


def test_a_line_without_an_end_takes_no_memory():
    data = io.BytesIO(b"x" * (50 << 20))
    tracemalloc.start()
    try:
        assert list(lines_of(data, Problems())) == [""]
        assert tracemalloc.get_traced_memory()[1] < 10 << 20
    finally:
        tracemalloc.stop()


def test_compressed_logs_are_read_as_far_as_they_go(tmp_path):
    path, problems = tmp_path / "log.gz", Problems()
    whole = gzip.compress("\n".join(f"line {n}" for n in range(10_000)).encode())

    path.write_bytes(whole)
    with open_log(path) as file:
        assert len(list(lines_of(file, problems))) == 10_000

    path.write_bytes(whole[: len(whole) // 2])
    with open_log(path) as file:
        list(lines_of(file, problems))
    assert list(problems.causes) == [
        "the compressed file is truncated or damaged after it"
    ]
