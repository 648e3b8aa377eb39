"""A version string of the rules, which changes with their code or limits."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

import orjson

from tracker import diagnosis
from tracker.models import Project

CHARACTERS = 12


def rules_version(project: Project) -> str:
    """Return a version of the rules and the project's settings for them."""
    if not project.rule_settings:
        return _of_code()
    settings = orjson.dumps(project.rule_settings, option=orjson.OPT_SORT_KEYS)
    return f"{_of_code()}-{hashlib.sha256(settings).hexdigest()[:CHARACTERS]}"


@cache
def _of_code() -> str:
    digest = hashlib.sha256()
    for folder in diagnosis.__path__:
        for path in sorted(Path(folder).rglob("*.py")):
            digest.update(path.relative_to(folder).as_posix().encode() + b"\0")
            digest.update(path.read_bytes() + b"\0")
    return digest.hexdigest()[:CHARACTERS]
