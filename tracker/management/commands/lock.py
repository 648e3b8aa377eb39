"""Writes the lock files: all packages of an environment, pinned, with hashes.

The *.in files with the direct requirements are edited by hand.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from manage import OLDEST_PYTHON

ROOT = Path(__file__).parents[3]
# Each with the lock file whose versions it must share, so that one environment can hold
# both.
LOCKS = {
    "requirements": None,
    "requirements-dev": "requirements",
    "examples/requirements": "requirements-dev",
    "requirements-docs": "requirements-dev",
}
UV = (sys.executable, "-m", "uv", "pip", "compile", "--quiet", "--universal")
OPTIONS = ("--generate-hashes", "--custom-compile-command", "python3 manage.py lock")


class Command(BaseCommand):
    help = "Pin every package that requirements*.in need, with hashes."
    # It uses neither the database nor the pages.
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--upgrade",
            action="store_true",
            help="take the latest versions of packages that no *.in file pins",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        upgrade = ["--upgrade"] if options["upgrade"] else []
        for name, base in LOCKS.items():
            constraints = ["--constraints", f"{base}.txt"] if base else []
            compile_lock(name, [*constraints, *upgrade])


def compile_lock(name: str, options: list[str]) -> None:
    python = ["--python-version", ".".join(map(str, OLDEST_PYTHON))]
    files = [f"{name}.in", "--output-file", f"{name}.txt"]
    command = [*UV, *OPTIONS, *python, *options, *files]
    if subprocess.call(command, cwd=ROOT):
        raise CommandError(f"{name}.txt could not be written; uv gave the reason.")
