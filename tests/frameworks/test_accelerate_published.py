"""Accelerate's own tests of trackers of others, with ours in place of its example.

They are in its repository and in no distribution, so whoever wants them says where they
lie: `ACCELERATE_TESTS=…/accelerate/tests python3 manage.py test --frameworks`.
test_accelerate.py asks the same without them.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.frameworks.requiring import framework
from tracker.processes import ROOT

framework("torch")
framework("accelerate")

EXAMPLES = {
    name: re.compile(
        rf"^class {name}\(GeneralTracker\):.*?(?=^class )", re.DOTALL | re.MULTILINE
    )
    for name in ("MyCustomTracker", "MyRegisteredTracker")
}
# They ask an example's file, or the example itself, for what was logged: here for what
# has arrived at a server.
OURS = {
    "MyCustomTracker": """
from agent.frameworks.accelerate import SeamarkTracker
from tests.agent.tracker_double import TOKEN, TrackerDouble

class Ours(SeamarkTracker):
    def __init__(self, run):
        self.server = TrackerDouble()
        os.environ.update(SEAMARK_URL=self.server.url, SEAMARK_TOKEN=TOKEN)
        super().__init__(run)

    def finish(self):
        super().finish()
        server, prefix = self.server, "params/"
        stored = {
            path: value
            for path, value in server.attributes().items()
            if not path.startswith("monitoring/")
        }
        self.config = {
            path.removeprefix(prefix): value
            for path, value in stored.items()
            if path.startswith(prefix)
        }
        self.values = {
            **{path: v for path, v in stored.items() if not path.startswith(prefix)},
            **{path: server.values(path)[-1] for path in server.paths()},
        }
        server.stop()

class MyCustomTracker(Ours):
    name = "my_custom_tracker"
    _col_names = (
        "total_loss", "iteration", "my_text",
        "learning_rate", "num_iterations", "some_boolean", "some_string",
    )

    def __init__(self, dir):
        super().__init__("custom")
        self._file = Path(dir, "log.csv")

    def finish(self):
        super().finish()
        with self._file.open("w") as file:
            writer = csv.DictWriter(file, self._col_names)
            writer.writeheader()
            # A series has numbers of one kind.
            writer.writerow({
                name: int(value) if isinstance(value, float) and value.is_integer() else value
                for name, value in {**self.config, **self.values}.items()
            })


""",
    "MyRegisteredTracker": """
class MyRegisteredTracker(Ours):
    name = "my_registered_tracker"


""",
}
# The others are about the trackers that Accelerate brings.
OF_OTHERS = "CustomTrackerTestCase or RegisterTrackerClassTest"


@pytest.mark.skipif(
    "ACCELERATE_TESTS" not in os.environ, reason="ACCELERATE_TESTS names no folder"
)
@pytest.mark.timeout(900)
def test_the_published_tests_of_trackers_of_others_pass_with_ours(tmp_path):
    text = Path(os.environ["ACCELERATE_TESTS"], "test_tracking.py").read_text("utf-8")
    for name, example in EXAMPLES.items():
        text, found = example.subn(lambda _, name=name: OURS[name], text)
        assert found == 1
    published = tmp_path / "test_tracking.py"
    published.write_text(text, encoding="utf-8")
    report = tmp_path / "report.xml"

    subprocess.run(
        [
            *(sys.executable, "-m", "pytest", str(published), "-k", OF_OTHERS),
            *("-p", "no:cacheprovider", f"--junit-xml={report}", "-q"),
        ],
        cwd=tmp_path,
        env={
            **os.environ,
            "PYTHONPATH": f"{ROOT}:{tmp_path}",
            "SEAMARK_SPOOL": str(tmp_path / "spool"),
            "SEAMARK_MONITOR": "no",
        },
        check=True,
    )

    cases = ElementTree.parse(report).findall(".//testcase")
    assert len(cases) >= 8
    assert not [case.get("name") for case in cases if len(case)]
