"""The lock files match the edited requirements; needs no network."""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tracker.embedded.environment import included
from tracker.management.commands.lock import LOCKS

ROOT = Path(__file__).resolve().parents[2]
# A pinned package in a lock, its hashes, and the packages or files that need it.
PIN = re.compile(
    r"^(?P<name>[\w.-]+)==(?P<version>\S+).*\\\n"
    r"(?P<hashes>(?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)+)"
    r"(?P<via>(?:    #.*\n)+)",
    re.MULTILINE,
)


def direct_requirements(name):
    """Return the requirements in this file and in included files."""
    return [
        Requirement(line)
        for file in included(ROOT / f"{name}.in")
        for line in file.read_text().splitlines()
        if line and not line.startswith(("#", "-r"))
    ]


def direct_pins(name):
    return dict(map(pin_of, direct_requirements(name)))


def pin_of(requirement):
    (specifier,) = requirement.specifier
    assert specifier.operator == "==", f"pin {requirement} with =="
    return canonicalize_name(requirement.name), specifier.version


def locked(name):
    """Return the versions in a lock, and the names required by *.in files."""
    entries = list(PIN.finditer((ROOT / f"{name}.txt").read_text()))
    pins = {entry["name"]: entry["version"] for entry in entries}
    return pins, {entry["name"] for entry in entries if "-r " in entry["via"]}


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_holds_exactly_the_pins_of_its_requirements(name):
    wanted = direct_pins(name)
    pins, asked_for = locked(name)

    assert {package: pins[package] for package in asked_for} == wanted, (
        "run `python3 manage.py lock`"
    )


@pytest.mark.parametrize("name", LOCKS)
def test_every_package_of_a_lock_has_hashes(name):
    lines = (ROOT / f"{name}.txt").read_text().splitlines()
    pins, _asked_for = locked(name)

    assert len(pins) == sum("==" in line and line[0] != " " for line in lines)


def test_the_lock_holds_every_package_that_a_locked_package_requires():
    pins, _asked_for = locked("requirements")

    missing = {
        (canonicalize_name(requirement.name), str(needed))
        for requirement in all_requirements("requirements")
        for needed in required_by(requirement)
        if canonicalize_name(needed.name) not in pins
    }

    assert missing == set()


def all_requirements(name):
    """Return the direct requirements and those of the packages they install."""
    waiting, found = direct_requirements(name), {}
    while waiting:
        requirement = waiting.pop()
        key = canonicalize_name(requirement.name), frozenset(requirement.extras)
        if key not in found:
            found[key] = requirement
            waiting += required_by(requirement)
    return list(found.values())


def required_by(requirement):
    """Return what an installed package needs here, with the requested extras."""
    try:
        requirements = map(Requirement, distribution(requirement.name).requires or ())
    except PackageNotFoundError:
        return []  # The requirement is for another platform.
    extras = {"", *requirement.extras}
    return [
        needed
        for needed in requirements
        if not needed.marker
        or any(needed.marker.evaluate({"extra": extra}) for extra in extras)
    ]


@pytest.mark.parametrize("name", ["requirements", "examples/requirements"])
def test_one_environment_can_hold_all_locks(name):
    development, _asked_for = locked("requirements-dev")
    pins, _asked_for = locked(name)

    assert pins.items() <= development.items()
