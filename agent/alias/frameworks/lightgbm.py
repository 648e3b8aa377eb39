"""The same as `seamark.frameworks.lightgbm`."""

from seamark.frameworks.lightgbm import SeamarkCallback

__all__ = ["SeamarkCallback"]
