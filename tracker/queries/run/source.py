"""Data captured by the agent for a stage: script, commit, packages and environment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tracker.models import Run
from tracker.queries.run.attributes import Value, list_attributes
from tracker.queries.run.namespaces import monitoring_path

PARTS = ("source", "git", "packages", "environment", "facts", "signals", "failure")


@dataclass(frozen=True, slots=True)
class CapturedSource:
    """Values of each part, by relative path; data that was not captured is absent."""

    parts: Mapping[str, Mapping[str, Value]] = field(default_factory=dict)

    def part(self, name: str) -> Mapping[str, Value]:
        return self.parts.get(name, {})

    def text(self, part: str, name: str) -> str:
        """Return a text; "" if the value is of another kind."""
        value = self.part(part).get(name)
        return value if isinstance(value, str) else ""


def captured_source(run: Run, stage: str) -> CapturedSource:
    """Return the data that the stage's first rank has captured."""
    parts = {}
    for part in PARTS:
        prefix = monitoring_path(stage, f"{part}/")
        parts[part] = {
            row.path.removeprefix(prefix): row.value
            for row in list_attributes(run, prefix=prefix)
            if row.value is not None
        }
    return CapturedSource(parts)
