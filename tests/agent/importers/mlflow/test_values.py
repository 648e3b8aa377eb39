from __future__ import annotations

import pytest

from seamark.importers.mlflow.values import (
    failure_of,
    to_attributes,
    to_facts,
    to_param,
)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3", 3),
        ("1e-4", 1e-4),
        ("True", True),
        ("None", None),
        ("adam", "adam"),
        ("1_000", "1_000"),
        (" 3", " 3"),
        ("9" * 41, "9" * 41),
        ("[1, 2]", "[1, 2]"),
    ],
)
def test_a_parameter_gets_its_type_back(text, value):
    assert to_param(text) == value
    assert type(to_param(text)) is type(value)


def test_system_tags_are_named_or_left_out():
    tags = {
        "mlflow.note.content": "first try",
        "mlflow.user": "ada",
        "mlflow.log-model.history": "[]",
        "team": "vision",
    }

    assert to_attributes({"lr": "0.1"}, tags) == {
        "params/lr": 0.1,
        "description": "first try",
        "mlflow/tags/team": "vision",
    }
    assert to_facts("id", tags) == {"mlflow/user": "ada", "mlflow/run_id": "id"}


def test_failed_and_killed_runs_are_failures():
    assert failure_of("FAILED")
    assert failure_of("KILLED")
    assert not failure_of("FINISHED")
    assert not failure_of("RUNNING")
