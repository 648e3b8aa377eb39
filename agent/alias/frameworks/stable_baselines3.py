"""The same as `seamark.frameworks.stable_baselines3`."""

from seamark.frameworks.stable_baselines3 import SeamarkCallback

__all__ = ["SeamarkCallback"]
