"""The limit on open files, in a subprocess, because a lowered limit cannot be raised."""

from __future__ import annotations

import resource
import subprocess
import sys

import pytest

PROGRAM = """
import resource, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (int(sys.argv[1]), int(sys.argv[2])))
from tracker.embedded import web
web.allow_open_files(int(sys.argv[3]))
print(resource.getrlimit(resource.RLIMIT_NOFILE)[0])
"""
MOST = resource.getrlimit(resource.RLIMIT_NOFILE)[1]


@pytest.mark.skipif(MOST < 20_000, reason="the system allows too few files")
@pytest.mark.parametrize(
    ("allowed", "most", "wanted", "found"),
    [
        (256, 20_000, 10_000, 10_000),
        (256, 300, 10_000, 300),
        (20_000, 20_000, 10_000, 20_000),
    ],
    ids=["more", "as many as there may be", "never fewer"],
)
def test_a_web_process_may_open_many_files(tmp_path, allowed, most, wanted, found):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(allowed), str(most), str(wanted)],
        env={
            "SEAMARK_DATA": str(tmp_path),
            "DJANGO_SETTINGS_MODULE": "tracker.settings",
        },
        capture_output=True,
        text=True,
        check=True,
    )

    assert int(done.stdout) == found
