"""The jobs of the corpus run, for a second each."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from agent.spool_reader import find_spools
from benchmarks.diagnosis.remote import Server

REPOSITORY = Path(__file__).parents[3]


@pytest.mark.parametrize(
    ("name", "processes"),
    [
        ("healthy-epochs", 1),
        ("healthy-service", 1),
        ("threads-share-one-core", 1),
        ("straggler", 4),
    ],
)
def test_a_job_ends_well_and_leaves_its_spools(tmp_path, name, processes):
    variables = {k: v for k, v in os.environ.items() if not k.startswith("SEAMARK_")}
    ended = subprocess.run(
        [
            *(sys.executable, "-m", "benchmarks.diagnosis.trainer", name),
            *("--seconds", "1"),
        ],
        env={
            **variables,
            "PYTHONPATH": str(REPOSITORY),
            "SEAMARK_MODE": "offline",
            "SEAMARK_SPOOL": str(tmp_path),
        },
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert ended.returncode == 0, ended.stderr
    spools = [*find_spools(tmp_path)]
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
