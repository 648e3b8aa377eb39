"""The jobs of the corpus run, for a second each."""

from __future__ import annotations

import os

import pytest

from benchmarks.diagnosis.remote import Server


@pytest.mark.parametrize(
    ("name", "processes"),
    [
        ("healthy-epochs", 1),
        ("healthy-service", 1),
        ("threads-share-one-core", 1),
        ("straggler", 4),
    ],
)
def test_a_job_ends_well_and_leaves_its_spools(run_job, name, processes):
    spools = run_job("benchmarks.diagnosis.trainer", name)

    assert len(spools) == processes
    assert all(spool.frames_from(1, most_bytes=2**20) for spool in spools)


@pytest.fixture
def server(tmp_path):
    if not os.access("/dev/fuse", os.R_OK | os.W_OK):
        pytest.skip("/dev/fuse cannot be opened")
    made = Server(files=3, size=100, seconds=0.0)
    yield made
    os.close(made.device)


def test_the_remote_folder_has_its_files_and_no_others(server):
    look_up, read, unknown = 1, 15, 9

    error, entry = server.answer(look_up, 1, b"2.bin\0")
    assert (error, len(entry)) == (0, 40 + 88)
    assert server.answer(look_up, 1, b"3.bin\0")[0] == -2
    assert server.answer(look_up, 1, b"notes.txt\0")[0] == -2
    assert server.answer(unknown, 1, b"")[0] == -38
    part = bytes(8) + (90).to_bytes(8, "little") + (64).to_bytes(4, "little")
    assert len(server.answer(read, 4, part)[1]) == 10
