"""Every Python example of the documentation runs."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    ROOT / "README.md",
    ROOT / "agent/README.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]
EXAMPLES = [
    pytest.param(code, id=f"{page.relative_to(ROOT)}-{number}")
    for page in PAGES
    for number, code in enumerate(
        re.findall(r"^```python\n(.*?)^```$", page.read_text("utf-8"), re.M | re.S)
    )
    # Examples that read data are tested with a server.
    if re.search("^(import|from) agent", code, re.M) and "agent.runs(" not in code
]
LINKS = [
    (page, link)
    for page in sorted({*PAGES, *ROOT.glob("*.md")})
    for link in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text("utf-8"))
    if not link.startswith("http")
]

NAMED = [
    (page, name)
    for page in sorted({*PAGES, *ROOT.glob("*.md")})
    for name in re.findall(
        r"`((?:agent|tracker|web|tests|benchmarks|evaluation)/[\w/.-]+\.\w+)`",
        page.read_text("utf-8"),
    )
]


# Frameworks that examples need and the test command does not install.
FRAMEWORKS = {
    *("torch", "lightning", "transformers", "accelerate", "keras"),
    *("stable_baselines3", "ultralytics"),
}


def missing(code):
    """Return the frameworks that the code imports and that are not installed."""
    imported = {
        name.partition(".")[0]
        for node in ast.walk(ast.parse(code))
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }
    return sorted(name for name in imported & FRAMEWORKS if find_spec(name) is None)


def test_there_are_examples():
    assert len(EXAMPLES) > 3


@pytest.mark.parametrize("code", EXAMPLES)
def test_an_example_runs(code, tmp_path):
    if lacking := missing(code):
        names = ", ".join(lacking)
        pytest.skip(f"{names} not installed: python3 manage.py test --frameworks")

    result = subprocess.run(
        [sys.executable, "-c", code],
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "SEAMARK_MODE": "offline",
            "SEAMARK_SPOOL": str(tmp_path),
        },
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert result.returncode == 0, result.stderr
    assert "Traceback" not in result.stderr


def test_links_lead_somewhere():
    astray = [
        f"{page.relative_to(ROOT)}: {link}"
        for page, link in LINKS
        if not (page.parent / link).exists()
    ]

    assert LINKS
    assert astray == []


def test_named_files_exist():
    missing_files = [
        f"{page.relative_to(ROOT)}: {name}"
        for page, name in NAMED
        if not (ROOT / name).exists()
    ]

    assert NAMED
    assert missing_files == []
