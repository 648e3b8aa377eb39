"""Import of W&B's config and summary."""

from __future__ import annotations

import json
import math
import sys

import pytest

from seamark.importers.problems import Problems
from seamark.importers.wandb_values import NO_YAML, read_config, read_summary

# Format of W&B before 0.18, written by PyYAML.
OLD = """\
wandb_version: 1

_wandb:
  desc: null
  value:
    cli_version: 0.12.1
lr:
  desc: null
  value: 1.0e-05
commit:
  desc: null
  value: 1234567e8
amp:
  desc: null
  value: true
model:
  desc: null
  value:
    depth: 12
    widths:
    - 64
    - 128
"""
# Format of newer versions, written in Go.
NEW = """\
_wandb:
    value:
        cli_version: 0.22.0
        t:
            "1":
                - 1
lr:
    value: 1e-05
samples:
    value: 1e+06
commit:
    value: "1234567e8"
seed:
    value: 7
name:
    value: "no"
nothing:
    value: null
"""


def config(text):
    problems = Problems()
    return read_config(text, problems), problems.sentences()


def summary(found, **ends):
    problems = Problems()
    text = found if isinstance(found, str) else json.dumps(found)
    return read_summary(text, ends, problems), problems.sentences()


def test_the_config_of_older_versions_is_read():
    assert config(OLD) == (
        {
            "lr": 1e-05,
            "commit": "1234567e8",
            "amp": True,
            "model": {"depth": 12, "widths": [64, 128]},
        },
        [],
    )


def test_numbers_of_newer_versions_are_numbers():
    assert config(NEW) == (
        {
            "lr": 1e-05,
            "samples": 1e6,
            "commit": "1234567e8",
            "seed": 7,
            "name": "no",
            "nothing": None,
        },
        [],
    )


def test_without_pyyaml_it_says_what_to_do(monkeypatch):
    monkeypatch.setitem(sys.modules, "yaml", None)

    assert config(NEW) == ({}, [f"line 1: {NO_YAML}"])


def test_a_config_of_another_program_is_none_of_wandbs():
    assert config("lr: 0.1\nlayers: !custom [1\n") == ({}, [])


def test_an_entry_without_a_value_is_noted():
    assert config("_wandb: {}\nlr: 0.1\n") == ({}, ["line 1: 'lr' has no value"])


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("a: &a [1]\nb: [*a, *a]", 3, "it has aliases or tags"),
        ("a: !!python/name:os.system", 2, "it has aliases or tags"),
        ("a: !!int '1:1'", 2, "it has aliases or tags"),
        ("a: " + "[" * 100_000, 2, "it is nested too deeply"),
        ("a: [" + "1," * 300_000, 2, "it has too many entries"),
        ("a: 1" + ":1" * 200_000, 2, "a number is too long"),
        ("a: {", 2, "expected the node content, but found '<stream end>'"),
        ("a: \0", 1, "unacceptable character #x0000"),
        ("a: 2026-99-99", 1, "month must be in 1..12"),
        ("a: 1" + "0" * 5_000, 1, "Exceeds the limit"),
    ],
)
def test_what_wandb_never_writes_is_noted_and_does_no_harm(text, line, reason):
    found, (sentence,) = config(f"_wandb: {{}}\n{text}")

    assert found == {}
    assert sentence.startswith(f"line {line}: it is not in W&B's format: {reason}")


def test_the_summary_is_what_no_series_ends_with():
    found = {
        "loss": 0.25,
        "accuracy": 0.9,
        "epoch": 3,
        "nan": "NaN",
        "best": {"value": 0.95, "epoch": 2},
        "note": "overfits",
        "gradients": {"_type": "histogram", "values": [1]},
        "_step": 7,
        "_wandb": {"runtime": 12},
    }

    values, problems = summary(found, loss=0.25, accuracy=0.8, epoch=3.0, nan=math.nan)

    assert values == {
        "accuracy": 0.9,
        "best/value": 0.95,
        "best/epoch": 2,
        "note": "overfits",
    }
    assert problems == []


def test_of_a_summary_not_a_number_is_a_number():
    ((path, value),) = summary({"loss": "NaN"})[0].items()

    assert path == "loss"
    assert math.isnan(value)


@pytest.mark.parametrize(
    "text", ["", "[" * 100_000, "1", "null", '{"": 1}', '{"a": 1' + "0" * 5_000 + "}"]
)
def test_no_summary_can_do_harm(text):
    assert summary(text)[0] == {}
