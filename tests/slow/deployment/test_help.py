"""The image's first stage has every file that the documentation is built from."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec

import pytest

from tests.slow.deployment.installation import HELP, ROOT, STEP, copy

pytestmark = pytest.mark.slow


@pytest.mark.skipif(find_spec("zensical") is None, reason="zensical is not installed")
def test_the_stage_builds_the_site(tmp_path):
    steps = STEP.findall(HELP)
    for step, words in steps:
        if step == "COPY":
            *sources, target = words.split()
            for source in sources:
                name = source if target == "./" else ""
                copy(ROOT / source, tmp_path / target / name)

    _, build = steps[-1]
    subprocess.run(
        [sys.executable, *build.split()[1:]], cwd=tmp_path, check=True, timeout=300
    )

    assert (tmp_path / "build/help/sdk/index.html").is_file()
