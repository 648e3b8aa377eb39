"""Namespaces of attributes with a fixed meaning (pure)."""

from __future__ import annotations

# Metrics of the agent, with one namespace per stage.
MONITORING = "monitoring/"
PARAMS = "params/"
TAGS_PATH = "tags"
# Relative to a stage: the time of each step of its loop.
STEP_SECONDS = "step/seconds"
# End of the path of a profile: JSON, long, and different in every run.
PROFILE = "/facts/code_profile"
# Namespaces, at any depth, whose single values are parameters.
PARAMETER_NAMESPACES = frozenset(
    {
        *("params", "param", "parameters", "config", "configs", "configuration", "cfg"),
        *("hparams", "hyperparams", "hyperparameters", "args", "arguments"),
        *("settings", "options"),
    }
)


def names_parameter(path: str) -> bool:
    """Return whether a single value with this path is a parameter whenever it is set."""
    if path.startswith(MONITORING):
        return False
    return not PARAMETER_NAMESPACES.isdisjoint(path.lower().split("/")[:-1])


def monitoring_path(stage_name: str, path: str = "") -> str:
    return f"{MONITORING}{stage_name}/{path}"


def namespace(path: str) -> str:
    return path.rpartition("/")[0]
