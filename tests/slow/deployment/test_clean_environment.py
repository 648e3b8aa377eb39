"""The product works without development packages and files outside the image."""

from __future__ import annotations

import subprocess

import psycopg
import pytest

from tests.services import PostgreSQL, Valkey, free_port
from tests.slow.deployment.installation import Team, eventually, install
from web.pages.sdk.source_archive import source_archive

pytestmark = [pytest.mark.slow, pytest.mark.processes, pytest.mark.timeout(900)]

# Modules that need the user's own framework, or that act when they are imported.
IMPORT_ALL = """
import importlib, pkgutil
import django
django.setup()
skipped = ("seamark.alias.", "seamark.frameworks.", "seamark.__main__", "tracker.embedded.web")
failed = []
for package in ("seamark", "tracker", "web"):
    found = pkgutil.walk_packages([package], f"{package}.")
    for module in found:
        if module.name.startswith(skipped):
            continue
        try:
            importlib.import_module(module.name)
        except ImportError as error:
            failed.append(f"{module.name}: {error}")
print("\\n".join(failed), end="")
"""
TRAINING = """
import agent
run = agent.init("first", project="demo", stage="train")
for step in range(200):
    run.log({"train/loss": float("nan") if step > 100 else 1 / (step + 1)}, step=step)
run.finish()
"""


@pytest.fixture(scope="module")
def code(tmp_path_factory):
    folder = tmp_path_factory.mktemp("image")
    install(folder)
    return folder


@pytest.fixture
def team(code, tmp_path):
    with PostgreSQL() as database, Valkey() as redis:
        team = Team(
            code, tmp_path, database=database.url, redis=redis.url, port=free_port()
        )
        yield team
        team.kill()


def roles(team):
    """Return the roles that have sent a heartbeat; /readyz reports no missing ones yet."""
    team.expect_all_running()
    url = team.environment["SEAMARK_DATABASE_URL"]
    with psycopg.connect(url.replace("postgres:", "postgresql:", 1)) as connection:
        found = connection.execute("SELECT role FROM tracker_heartbeat")
        return {role for (role,) in found}


def test_every_module_can_be_imported(team):
    settings = {"DJANGO_SETTINGS_MODULE": "tracker.settings"}

    assert team.run("-c", IMPORT_ALL, **settings) == ""


def test_it_offers_the_sdk_of_this_checkout(code):
    script = (
        "from web.pages.sdk.source_archive import source_archive as archive;"
        "print(archive().sha256)"
    )

    printed = subprocess.check_output(
        [code / ".venv/bin/python", "-c", script], cwd=code, text=True
    )

    assert printed.strip() == source_archive().sha256


def test_a_team_logs_a_run_gets_its_diagnosis_and_stops(team):
    team.manage("migrate")
    team.manage("prepare")
    team.start("serve", "worker", "scheduler")
    eventually(lambda: team.get("/readyz") and roles(team) == {"worker", "scheduler"})

    team.run("-c", TRAINING)
    (project,) = team.get("/api/v1/projects")["projects"]
    runs = f"/api/v1/projects/{project['workspace']}/{project['slug']}/runs"
    (run,) = team.get(runs)["runs"]
    findings = eventually(lambda: findings_of(team, run["id"]))

    assert "loss-is-not-a-number" in findings
    assert team.get("/readyz")["status"] == "ready"
    assert team.stop() == {}


def findings_of(team, run_id):
    stages = team.get(f"/api/v1/runs/{run_id}/diagnosis")["stages"]
    return [finding["rule"] for stage in stages for finding in stage["findings"]]
