"""Conventions of public names, docstrings and empty packages."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import agent
from seamark.version import VERSION
from tracker import version

ROOT = Path(__file__).resolve().parents[2]
MODULES = sorted(
    path
    for folder in ("agent", "tracker", "web")
    for path in (ROOT / folder).rglob("*.py")
)
# The packages that list something, and what they list.
LISTS = {
    "agent/__init__.py": "the agent's public names",
    "agent/alias/__init__.py": "the same public names",
    "agent/commands/__init__.py": "every command",
    "agent/probes/__init__.py": "every probe",
    "tracker/alerts/services/__init__.py": "every chat service",
    "tracker/models/__init__.py": "every table, for Django",
    "tracker/shares/__init__.py": "every kind of thing that can be shared",
    "tracker/diagnosis/rules/__init__.py": "every rule",
    "tracker/diagnosis/signals/__init__.py": "every signal",
    "web/widgets/__init__.py": "every kind of widget",
}


def relative(path):
    return str(path.relative_to(ROOT))


def test_the_agents_public_names_are_sorted_and_there():
    assert list(agent.__all__) == sorted(agent.__all__)
    assert all(hasattr(agent, name) for name in agent.__all__)


@pytest.mark.parametrize("name", sorted(agent.__all__))
def test_every_public_name_of_the_agent_explains_itself(name):
    thing = getattr(agent, name)

    assert isinstance(thing, str) or (thing.__doc__ or "").strip()


def test_agent_server_and_distribution_say_the_same_version():
    text = (ROOT / "pyproject.toml").read_text()
    (distribution,) = re.findall(r'^version = "(.*)"$', text, re.M)

    assert {VERSION, version.VERSION} == {distribution}


def test_every_module_says_what_lives_in_it():
    silent = [
        relative(path)
        for path in MODULES
        if path.name != "__init__.py"
        and not ast.get_docstring(ast.parse(path.read_text()))
    ]

    assert silent == []


def test_packages_are_empty_but_for_the_lists():
    filled = {
        relative(path)
        for path in MODULES
        if path.name == "__init__.py" and path.read_text().strip()
    }

    assert filled <= set(LISTS)
