from pathlib import Path

import pytest

from benchmarks.logging import entrants as logging_entrants
from benchmarks.peers.entrants import ENTRANTS, Driver, Entrant
from benchmarks.peers.environments import REQUIREMENTS, read_requirements
from benchmarks.peers.measures import OURS
from tracker.processes import ROOT

ENVIRONMENTS = {
    entrant.environment for entrant in (*ENTRANTS, *logging_entrants.ENTRANTS)
} - {""}


def test_each_environment_is_pinned_and_used():
    packages = read_requirements(REQUIREMENTS.read_text())

    assert set(packages) == ENVIRONMENTS
    assert all("==" in package for found in packages.values() for package in found)


@pytest.mark.parametrize("entrant", ENTRANTS, ids=lambda entrant: entrant.key)
def test_each_entrant_has_a_driver(entrant: Entrant):
    driver = ROOT / f"benchmarks/peers/{entrant.module}.py"

    assert f'"{entrant.variant}"' in driver.read_text()


def test_what_tables_compare_with_is_measured():
    labels = [entrant.label for entrant in ENTRANTS]

    floors = {floor for entrant in ENTRANTS for floor in entrant.floors}
    assert {OURS, *floors} <= set(labels)
    assert len(set(labels)) == len(labels)


def test_a_driver_that_does_not_start_is_an_answer_with_the_reason(tmp_path: Path):
    driver = Driver(Entrant("none", "None", "no_such_peer", "x"), tmp_path, tmp_path)

    assert "no_such_peer" in driver.ask("describe")["error"]


def test_a_driver_that_ended_before_it_was_asked_says_why(tmp_path: Path):
    driver = Driver(Entrant("none", "None", "no_such_peer", "x"), tmp_path, tmp_path)
    driver.start().wait()

    assert "no_such_peer" in driver.ask("describe")["error"]


def test_a_job_that_fails_is_an_answer_and_the_driver_goes_on(tmp_path: Path):
    floor = next(entrant for entrant in ENTRANTS if entrant.key == "floor-sqlite")
    driver = Driver(floor, tmp_path, tmp_path)

    assert "Nothing was loaded" in driver.ask("chart", runs=1)["error"]
    assert driver.ask("describe")["release"].startswith("granian")
    driver.stop()


@pytest.mark.parametrize("key", ["floor-sqlite", "floor-sqlite-shared"])
def test_a_floor_counts_what_it_was_sent(key: str, tmp_path: Path):
    floor = next(entrant for entrant in ENTRANTS if entrant.key == key)
    driver = Driver(floor, tmp_path, tmp_path)

    outcome = driver.ask(
        "ingest", clients=2, metrics=3, steps=5, seconds=0.0, most_points=30
    )
    loaded = driver.ask("load", runs=2, points=1_000, seconds=60.0)
    drawn = driver.ask("chart", runs=2)
    driver.stop()

    assert outcome["points"] == 30
    assert loaded == {"runs": 2, "points": 1_000}
    assert drawn["bytes"] > 0
