"""Warnings name the agent, also without logging configuration."""

from __future__ import annotations

import ast
import re
import subprocess
import sys

import pytest

from tests.agent.conftest import REPOSITORY

# Not in a path, an option or a code span.
SPOOL = re.compile(r"(?<![-/`_.])\bspools?\b(?![/`_.])", re.IGNORECASE)
WARN = "from seamark.user_warnings import Notices; Notices().warn('disk', 'the disk is full')"


@pytest.mark.parametrize(
    ("setup", "expected"),
    [
        ("", "seamark: the disk is full"),
        (
            "import logging; logging.basicConfig(); ",
            "WARNING:seamark:the disk is full",
        ),
    ],
    ids=["without logging", "with logging"],
)
def test_a_warning_says_whose_it_is(setup, expected):
    printed = subprocess.run(
        [sys.executable, "-c", setup + WARN], capture_output=True, text=True, check=True
    )

    assert printed.stderr.strip() == expected


def test_sentences_name_the_offline_queue_as_the_docs_do():
    found = [
        f"{file}:{line} {text}"
        for file in sorted((REPOSITORY / "agent").rglob("*.py"))
        for line, text in sentences_of(file.read_text("utf-8"))
        if SPOOL.search(text)
    ]

    assert found == []


def sentences_of(source):
    """Yield the literals of more than two words, without docstrings."""
    tree = ast.parse(source)
    docstrings = {
        id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            words = [
                part.value if isinstance(part, ast.Constant) else "…"
                for part in node.values
            ]
            text = "".join(words)
        elif isinstance(node, ast.Constant) and id(node) not in docstrings:
            text = node.value if isinstance(node.value, str) else ""
        else:
            continue
        if len(text.split()) > 2:
            yield node.lineno, text
