"""Lightning's own tests of loggers, with ours in their list.

They are in its repository and in no distribution, so whoever wants them says where they
lie: `LIGHTNING_TESTS=…/pytorch-lightning/tests python3 manage.py test --frameworks`.
test_lightning.py asks the same without them.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.frameworks.requiring import framework
from tracker.processes import ROOT

framework("torch")
framework("lightning")

LISTED = re.compile(r"^ALL_LOGGER_CLASSES = \(.*?^\)", re.DOTALL | re.MULTILINE)
# Lightning looks for threads that a test leaves; a run is open until its script ends.
OURS = """
from agent import hooks
from agent.frameworks.lightning import SeamarkLogger

ALL_LOGGER_CLASSES = (SeamarkLogger,)

@pytest.fixture(autouse=True)
def _finished_runs():
    yield
    for run in hooks.open_runs():
        run.finish()
"""
# The others are about the loggers that Lightning brings.
OF_ALL = "fit_test_all or pickle_all or initialization"


@pytest.mark.skipif(
    "LIGHTNING_TESTS" not in os.environ, reason="LIGHTNING_TESTS names no folder"
)
@pytest.mark.timeout(900)
def test_the_published_tests_of_all_loggers_pass_with_ours(tmp_path, tmp_path_factory):
    shutil.copytree(
        Path(os.environ["LIGHTNING_TESTS"], "tests_pytorch"), tmp_path / "tests_pytorch"
    )
    published = tmp_path / "tests_pytorch/loggers/test_all.py"
    text, found = LISTED.subn(OURS, published.read_text(encoding="utf-8"))
    assert found == 1
    published.write_text(text, encoding="utf-8")
    report = tmp_path / "report.xml"

    subprocess.run(
        [
            *(sys.executable, "-m", "pytest", str(published), "-k", OF_ALL),
            *("-p", "no:cacheprovider", f"--junit-xml={report}", "-q"),
        ],
        cwd=tmp_path,
        env={
            **os.environ,
            "PYTHONPATH": f"{ROOT}:{tmp_path}",
            "SEAMARK_MODE": "offline",
            "SEAMARK_SPOOL": str(tmp_path_factory.mktemp("spool")),
            "SEAMARK_MONITOR": "no",
        },
        check=True,
    )

    cases = ElementTree.parse(report).findall(".//testcase")
    ours = [case for case in cases if "SeamarkLogger" in case.get("name", "")]
    assert len(ours) == 3
    assert not [case.get("name") for case in ours if len(case)]
