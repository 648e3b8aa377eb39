"""Parameters, tags and end of a run of MLflow (pure)."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

_CONSTANTS = {"True": True, "False": False, "None": None}
_OWN = "mlflow."
_NOTE = "mlflow.note.content"
# System tags that are kept; the others concern MLflow's own pages.
_KEPT = {
    "mlflow.user": "user",
    "mlflow.source.name": "source",
    "mlflow.source.git.commit": "git_commit",
    "mlflow.parentRunId": "parent_run_id",
}
_FAILURES = {"FAILED": "MLflow: the run failed", "KILLED": "MLflow: the run was killed"}
_LONGEST_NUMBER = 40  # characters


def to_param(text: str) -> object:
    """Return the value of a parameter, which MLflow stores as text."""
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    # Underscores and spaces are allowed in Python's numbers, but are names here.
    if len(text) > _LONGEST_NUMBER or "_" in text or text != text.strip():
        return text
    with suppress(ValueError):
        return int(text)
    with suppress(ValueError):
        return float(text)
    return text


def to_attributes(
    params: Mapping[str, str], tags: Mapping[str, str]
) -> dict[str, object]:
    """Return the attributes of a run: parameters, description and tags."""
    found: dict[str, object] = {
        f"params/{name}": to_param(text) for name, text in params.items()
    }
    if tags.get(_NOTE):
        found["description"] = tags[_NOTE]
    for name, text in tags.items():
        if not name.startswith(_OWN):
            found[f"mlflow/tags/{name}"] = text
    return found


def to_facts(run_id: str, tags: Mapping[str, str]) -> dict[str, object]:
    """Return the run's origin, which differs between runs and is no result."""
    found = {f"mlflow/{name}": tags[tag] for tag, name in _KEPT.items() if tag in tags}
    return {**found, "mlflow/run_id": run_id}


def failure_of(status: str) -> str:
    """Return the reason for which a run failed; "" if it did not."""
    return _FAILURES.get(status, "")
