"""The same as `seamark.frameworks.xgboost`."""

from seamark.frameworks.xgboost import SeamarkCallback

__all__ = ["SeamarkCallback"]
