from __future__ import annotations

import subprocess
import sys

FRAMEWORKS = {"django", "celery", "redis", "psycopg"}


def test_the_engine_loads_no_framework():
    # import-linter does not see what a parent package's __init__ imports.
    program = "import sys, tracker.diagnosis.engine; print(*sys.modules)"
    loaded = subprocess.check_output([sys.executable, "-c", program], text=True).split()

    assert not FRAMEWORKS & set(loaded)
