"""An example of each rule: a finding in a recorded job, or in a made-up stage.

`python -m evaluation.examples` writes the file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

PATH = Path(__file__).parents[1] / "examples.json"


@dataclass(frozen=True, slots=True)
class Row:
    """Evidence as pages show it; `limit` is empty if none was crossed."""

    statistic: str
    value: str
    limit: str


@dataclass(frozen=True, slots=True)
class Example:
    """`recording` is empty if no recording of a job has the finding."""

    recording: str
    title: str
    summary: str
    evidence: tuple[Row, ...]


@cache
def all_examples() -> dict[str, Example]:
    """Return the examples by rule."""
    stored = json.loads(PATH.read_text("utf-8"))
    return {
        rule: Example(
            **{**one, "evidence": tuple(Row(**row) for row in one["evidence"])}
        )
        for rule, one in stored.items()
    }


def to_json(examples: Mapping[str, Example]) -> str:
    plain = {rule: asdict(example) for rule, example in sorted(examples.items())}
    return json.dumps(plain, indent=1, ensure_ascii=False) + "\n"
