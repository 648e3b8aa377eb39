"""Start the example's scripts as the demo does, in separate processes."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
SCRIPTS = ("ladder", "preprocess", "train", "infer")


def test_every_script_finds_its_imports():
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}

    results = {
        name: subprocess.run(
            [sys.executable, ROOT / f"examples/{name}.py", "--help"],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        for name in SCRIPTS
    }

    broken = {name: r.stderr for name, r in results.items() if r.returncode}
    assert broken == {}
