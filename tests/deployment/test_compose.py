"""docker-compose.yml matches the Compose specification and our settings.

The schema is compose-spec's, from the npm package dclint 3.1.0 (MIT).
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import jsonschema
import pytest
import yaml

import manage

ROOT = Path(__file__).resolve().parents[2]
SOURCE = (ROOT / "docker-compose.yml").read_text()
COMPOSE = yaml.safe_load(SOURCE)
SCHEMA = json.loads(Path(__file__).with_name("compose.schema.json").read_text())
# The image decides these; agents of the same user, who read SEAMARK_CONFIG, are elsewhere.
FIXED = {"SEAMARK_DATA", "SEAMARK_BIND", "SEAMARK_PORT", "SEAMARK_CONFIG"}
OURS = {name: one for name, one in COMPOSE["services"].items() if "build" in one}


def test_it_keeps_to_the_compose_specification():
    jsonschema.Draft7Validator(SCHEMA).validate(COMPOSE)


def test_the_schema_would_notice_a_typing_error():
    web = {**COMPOSE["services"]["web"], "helthcheck": {}}

    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft7Validator(SCHEMA).validate(
            {**COMPOSE, "services": {"web": web}}
        )


@pytest.mark.parametrize("service", OURS)
def test_each_command_is_one_of_ours(service):
    command, *_ = OURS[service]["command"]

    assert command in dict(manage.COMMANDS)


def test_it_starts_web_workers_and_one_scheduler():
    assert {"web", "worker", "scheduler"} <= set(OURS)
    assert "deploy" not in OURS["scheduler"]


def test_every_variable_is_documented():
    used = set(re.findall(r"\$\{(\w+)", SOURCE))
    documented = (ROOT / "docs/configuration.md").read_text()

    assert used
    assert {name for name in used if f"`{name}`" not in documented} == set()


@pytest.mark.parametrize("service", OURS)
def test_settings_know_every_variable_it_sets(service):
    settings = (ROOT / "tracker/settings.py").read_text()

    unknown = [
        name for name in OURS[service]["environment"] if f'"{name}"' not in settings
    ]

    assert unknown == []


@pytest.mark.parametrize("service", OURS)
def test_each_service_gets_every_documented_setting(service):
    page = (ROOT / "docs/configuration.md").read_text()
    _, _, server = page.partition("## The server")
    documented = set(re.findall(r"^\| `(SEAMARK_\w+)`", server.split("## ")[0], re.M))

    assert len(documented) > 10
    assert set(OURS[service]["environment"]) == documented - FIXED


def test_no_secret_has_a_default():
    for name in ("SEAMARK_SECRET_KEY", "SEAMARK_DATABASE_PASSWORD"):
        uses = re.findall(rf"\$\{{{name}(.)", SOURCE)

        assert uses
        assert set(uses) == {":"}
        assert f"{name}:-" not in SOURCE


def test_only_this_machine_reaches_the_port_unless_told_otherwise():
    ports = [
        port for one in COMPOSE["services"].values() for port in one.get("ports", [])
    ]

    assert ports == ["${SEAMARK_PUBLISH:-127.0.0.1:8713}:8713"]


@pytest.mark.parametrize("service", ["postgres", "redis", "web", "worker"])
def test_what_others_wait_for_says_whether_it_is_healthy(service):
    assert COMPOSE["services"][service]["healthcheck"]["test"]


def test_the_image_contains_every_folder_the_server_needs():
    dockerfile = (ROOT / "Dockerfile").read_text()
    sent = (ROOT / ".dockerignore").read_text().splitlines()

    for folder in ("agent", "tracker", "web", "migrations"):
        assert f"COPY {folder} {folder}" in dockerfile
        assert f"!{folder}" in sent
    for file in ("manage.py", "requirements.txt", "pyproject.toml", "LICENSE"):
        assert f"!{file}" in sent
    # The SDK that the server offers has both.
    assert "COPY pyproject.toml LICENSE ./" in dockerfile
    assert "USER seamark" in dockerfile
