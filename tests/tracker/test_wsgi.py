from __future__ import annotations

import subprocess
import sys

from tracker.server.processes import ROOT

LOADED = """
import sys
import tracker.wsgi
print(sorted({"tracker.api.v1.series", "web.pages.run.run"} & set(sys.modules)))
"""


def test_the_modules_are_loaded_before_the_first_request(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", LOADED],
        env={"SEAMARK_DATA": str(tmp_path), "HOME": str(tmp_path)},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout.split() == ["['tracker.api.v1.series',", "'web.pages.run.run']"]
