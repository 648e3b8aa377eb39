"""The same as `seamark.frameworks.optuna`."""

from seamark.frameworks.optuna import SeamarkCallback, trial_run

__all__ = ["SeamarkCallback", "trial_run"]
