"""The namespaces that mean something to every reader of attributes (pure)."""

from __future__ import annotations

# What the agent measures by itself, below it one namespace for each stage.
MONITORING = "monitoring/"
PARAMS = "params/"
TAGS_PATH = "tags"
# Below a stage: how long each step of its loop took.
STEP_SECONDS = "step/seconds"


def monitoring_path(stage_name: str, path: str = "") -> str:
    return f"{MONITORING}{stage_name}/{path}"


def namespace(path: str) -> str:
    return path.rpartition("/")[0]
